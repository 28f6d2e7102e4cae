import { existsSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { codeOf } from '../src/domain/error-code.ts'
import { type BackupNames, datedName, listFolder, pruneFolder, setAside } from './backup-folder.ts'
import { type BackupFile, type BackupOutcome, type Backups, type BackupWork, DatabaseUnusable } from './database.ts'
import { systemSentence } from './faults/system.ts'

/** Outcomes that are kept in memory. */
const mostOutcomes = 100

/** How backups of one database are made and checked. Each gives what is wrong, in plain sentences. */
export type BackupMaker = {
  readonly names: BackupNames
  /** Makes a backup and checks it. @throws DatabaseUnusable if there is none */
  readonly make: (to: string) => Promise<readonly string[]>
  readonly check: (file: string) => Promise<readonly string[]>
}

/** What keeps a backup from being written, as a sentence; null for an error that is not of the system. */
export const unusable = (error: unknown, path: string): DatabaseUnusable | null => {
  const code = codeOf(error)
  const isTaken = code === 'ENOTDIR' || code === 'EEXIST'
  const sentence = isTaken ? `${path} is not a folder: name another one.` : systemSentence(code, path)
  return sentence === null ? null : new DatabaseUnusable('out_of_reach', sentence)
}

/** The backups that a server makes of its database in a folder, one at a time. */
export class FolderBackups implements Backups {
  #work: BackupWork | null = null
  #outcomes: readonly BackupOutcome[] = []

  constructor(
    readonly folder: string,
    private readonly maker: BackupMaker,
  ) {}

  /** Nothing if the folder cannot be read: making a backup says why. */
  list(): readonly BackupFile[] {
    try {
      return listFolder(this.folder, this.maker.names)
    } catch (error) {
      if (unusable(error, this.folder) === null) throw error
      return []
    }
  }

  begin(kind: BackupWork['kind'], at: number, name = datedName(this.maker.names, at)): string | null {
    if (this.#work !== null) return null
    this.#work = { kind, name, startedAt: at, bytes: 0 }
    return name
  }

  end(outcome: Pick<BackupOutcome, 'endedAt' | 'problems'> | null): void {
    if (outcome !== null && this.#work !== null) {
      const { kind, name } = this.#work
      this.#outcomes = [{ kind, name, ...outcome }, ...this.#outcomes].slice(0, mostOutcomes)
    }
    this.#work = null
  }

  outcomes(): readonly BackupOutcome[] {
    return this.#outcomes
  }

  work(): BackupWork | null {
    return this.#work === null ? null : { ...this.#work, bytes: this.#copiedBytes(this.#work) }
  }

  async make(name: string): Promise<readonly string[]> {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw unusable(error, this.folder) ?? error
    }
    return await this.maker.make(join(this.folder, name))
  }

  async check(name: string): Promise<readonly string[]> {
    return await this.maker.check(join(this.folder, name))
  }

  prune(keep: number, newest: string): readonly string[] {
    return pruneFolder(this.folder, this.maker.names, { keep, newest })
  }

  setAside(name: string): string {
    return setAside(this.folder, this.maker.names, name)
  }

  freeBytes(): number | null {
    let at = resolve(this.folder)
    while (!existsSync(at) && dirname(at) !== at) at = dirname(at) // the folder is made with the first backup
    try {
      const { bavail, bsize } = statfsSync(at)
      return bavail * bsize
    } catch {
      return null
    }
  }

  /** The length of the copy: under its own name, or under the name that it has until it is complete. */
  #copiedBytes({ kind, name }: BackupWork): number {
    if (kind === 'check' || !existsSync(this.folder)) return 0
    const copy = readdirSync(this.folder).find((one) => one.startsWith(name) && !one.endsWith('-journal'))
    return copy === undefined ? 0 : (statSync(join(this.folder, copy), { throwIfNoEntry: false })?.size ?? 0)
  }
}
