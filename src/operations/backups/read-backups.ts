import type { Platform } from '../platform.ts'
import { lackOfRoom } from './make-backup.ts'

/** What the desk shows about backups; null on PostgreSQL, which has its own. */
export type BackupState = NonNullable<Awaited<ReturnType<typeof readBackups>>>

export const readBackups = async (platform: Platform) => {
  const { database } = platform
  const { backups } = database
  if (backups === null) return null
  const outcomes = backups.outcomes()
  return {
    folder: backups.folder,
    files: backups.list().map(({ name, madeAt, sizeBytes }) => ({
      name,
      madeAt,
      sizeBytes,
      /** What its last check has found; null if it was not checked since the server started. */
      checked: outcomes.find((outcome) => outcome.name === name) ?? null,
    })),
    /** The work that goes on now. */
    work: backups.work(),
    /** How the latest backup ended; null if none ended since the server started. */
    latest: outcomes.find(({ kind }) => kind === 'backup') ?? null,
    /** Epoch milliseconds of the last backup by any program; null if there is none. */
    lastBackupAt: await database.queries.watermarks.find('backed_up'),
    databaseBytes: database.statistics().databaseBytes,
    /** Why a backup would be refused now; null if it would not. */
    lackOfRoom: lackOfRoom(platform),
  }
}
