import { dirname } from 'node:path'
import type { DiskEvent } from './recording.ts'

/** What may be on the disk after a power cut, and what had been promised before it. */
export type Aftermath = { readonly files: ReadonlyMap<string, Buffer>; readonly acknowledged: ReadonlySet<string> }

type Change = Extract<DiskEvent, { readonly kind: 'write' | 'truncate' }>
type Pending = { readonly change: Change; readonly index: number }
type Disk = { named: boolean; content: Buffer; pending: Pending[] }

const modes = ['nothing', 'a prefix', 'a subset', 'torn sectors'] as const
const sector = 512

/**
 * One state that a power cut just before event `cut` may leave: everything synced, and of the rest of each file
 * nothing, a prefix, a subset, or single sectors. A new name is only sure once its folder was synced.
 */
export const cutPower = (events: readonly DiskEvent[], cut: number, random: (below: number) => number): Aftermath => {
  const disks = new Map<string, Disk>()
  const acknowledged = new Set<string>()
  for (const [index, event] of events.slice(0, cut).entries()) {
    if (event.kind === 'acknowledge') acknowledged.add(event.id)
    else if (event.kind === 'unlink') disks.delete(event.file)
    else if (event.kind === 'create') disks.set(event.file, disks.get(event.file) ?? blank())
    else if (event.kind === 'sync') sync(disks, event.path, event.since)
    else disks.get(event.file)?.pending.push({ change: event, index })
  }
  const files = new Map<string, Buffer>()
  for (const [file, disk] of disks) {
    if (!disk.named && random(2) === 0) continue
    files.set(file, survivors(disk.pending, random).reduce(apply, disk.content))
  }
  return { files, acknowledged }
}

const blank = (): Disk => ({ named: false, content: Buffer.alloc(0), pending: [] })

const sync = (disks: Map<string, Disk>, path: string, since: number): void => {
  for (const [file, disk] of disks) if (dirname(file) === path) disk.named = true
  const disk = disks.get(path)
  if (!disk) return
  disk.content = disk.pending
    .filter(({ index }) => index < since)
    .reduce((content, { change }) => apply(content, change), disk.content)
  disk.pending = disk.pending.filter(({ index }) => index >= since)
}

const survivors = (pending: readonly Pending[], random: (below: number) => number): readonly Change[] => {
  const changes = pending.map(({ change }) => change)
  const mode = modes[random(modes.length)] ?? 'nothing'
  switch (mode) {
    case 'nothing':
      return []
    case 'a prefix':
      return changes.slice(0, random(changes.length + 1))
    case 'a subset':
      return changes.filter(() => random(2) === 0)
    case 'torn sectors':
      return changes.flatMap((change) => sectorsOf(change)).filter(() => random(5) < 3)
    default:
      return mode satisfies never
  }
}

const sectorsOf = (change: Change): readonly Change[] =>
  change.kind === 'truncate'
    ? [change]
    : Array.from({ length: Math.ceil(change.bytes.length / sector) }, (_, piece) => ({
        ...change,
        offset: change.offset + piece * sector,
        bytes: change.bytes.subarray(piece * sector, (piece + 1) * sector),
      }))

const apply = (content: Buffer, change: Change): Buffer => {
  const end = change.kind === 'truncate' ? change.size : Math.max(content.length, change.offset + change.bytes.length)
  const next = end === content.length ? content : resized(content, end)
  if (change.kind === 'write') change.bytes.copy(next, change.offset)
  return next
}

const resized = (content: Buffer, size: number): Buffer => {
  const next = Buffer.alloc(size)
  content.copy(next)
  return next
}
