import type { Database } from '../../../db/database.ts'
import { countingDelayMs, countsKeptMs, dayMs, hourMs } from '../../domain/count.ts'
import type { Platform } from '../platform.ts'

/** About how many rows of each table one transaction counts, so that no other write waits for long. */
const rowsAtOnce = 1_000

/** What has been counted: everything whose key was made before this moment, and nothing else. */
const countedUntil = async (q: Database['queries'], now: number): Promise<number> =>
  (await q.watermarks.find('counted')) ?? now - countsKeptMs

/**
 * Counts what has been issued, installed and delivered since the last time, for the dashboards. The moment up to which everything is
 * counted moves in the transaction that adds the counts. So each row is counted once, even if a server ends in between or
 * several servers count. Rows of the last two minutes wait, because others with earlier keys may still be committed.
 */
export const countAll = async (
  platform: Platform,
  pause: () => Promise<void>,
  stopped: () => boolean,
): Promise<void> => {
  while (!stopped() && (await countPart(platform))) await pause()
}

/** Where nothing is to be counted, the moment moves once an hour and not at every run. */
const idleMs = hourMs

type Part = { readonly from: number; readonly until: number; readonly isEmpty: boolean }

/** The next part before this moment; null if there is nothing to do. */
const nextPart = async (q: Database['queries'], now: number): Promise<Part | null> => {
  const from = await countedUntil(q, now)
  const until = now - countingDelayMs
  if (from >= until) return null
  const end = await q.counted.partEnd({ from, until }, rowsAtOnce)
  if (end !== null) return { from, until: end, isEmpty: false }
  return until - from < idleMs ? null : { from, until, isEmpty: true }
}

/** Counts the next part. Returns whether there may be more. */
const countPart = async ({ database, clock }: Platform): Promise<boolean> => {
  const now = clock.purgeBefore()
  if ((await nextPart(database.queries, now)) === null) return false
  return await database.transaction(async (q) => {
    const part = await nextPart(q, now)
    if (part === null) return false
    if (!part.isEmpty) await q.counts.add(await q.counted.count(part))
    await q.watermarks.set('counted', part.until)
    return part.until < now - countingDelayMs
  })
}

/** How long the purge waits for a row to be counted. If counting fails for longer, space counts more. */
const patienceMs = dayMs

/** The moment from which on the purge removes no row that the dashboards count, by the time of its key. */
export const removableBefore = async (q: Database['queries'], now: number): Promise<number> =>
  Math.max(await countedUntil(q, now), now - patienceMs)
