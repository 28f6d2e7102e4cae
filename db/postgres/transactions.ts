import type { Awaitable } from '../../src/domain/awaitable.ts'
import type { TransactionKind } from '../database.ts'
import { lockText } from './dialect.ts'
import { postgresFault, sqlState, unavailable } from './fault.ts'
import type { Member, Pool } from './pool.ts'
import type { Primary, PrimaryLink } from './primary.ts'
import type { Timelines } from './timelines.ts'

const mostAttempts = 5
const longestMs = 5_000

/**
 * Sent in one message, in front of the first statement of the body. `serial` bodies run one after the other over all nodes, so
 * each of them sees everything that the ones before it committed.
 */
const beginTexts: Readonly<Record<TransactionKind, string>> = {
  guarded: 'BEGIN; SELECT pg_current_xact_id()::text',
  serial: `BEGIN; SELECT pg_current_xact_id()::text; ${lockText('serial')}`,
}

/** What became of one attempt. */
type Attempt<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'again' }
const again = { kind: 'again' } as const

export class Transactions<Q> {
  /** Answered transactions, and how many commits were made for them. */
  count = 0
  reruns = 0

  constructor(
    private readonly pools: Readonly<Record<TransactionKind, Pool<Q>>>,
    private readonly primary: Primary,
    private readonly timelines: Timelines,
  ) {}

  /**
   * Runs the body, and again if another transaction was first or the connection was lost before COMMIT.
   * @throws unavailable if that does not help, or if nobody can tell whether the commit was kept
   */
  async run<T>(work: (queries: Q) => Awaitable<T>, kind: TransactionKind): Promise<T> {
    const giveUpAt = performance.now() + longestMs
    for (let attempt = 1; attempt <= mostAttempts && performance.now() < giveUpAt; attempt += 1) {
      const outcome = await this.#attempt(work, kind)
      if (outcome.kind === 'done') {
        await this.timelines.settled()
        this.count += 1
        return outcome.value
      }
      this.reruns += 1
      await Bun.sleep(Math.random() * 20 * attempt)
    }
    throw unavailable(1)
  }

  async #attempt<T>(work: (queries: Q) => Awaitable<T>, kind: TransactionKind): Promise<Attempt<T>> {
    try {
      return await this.pools[kind].use(async (member) => await this.#once(member, work, beginTexts[kind]))
    } catch (error) {
      if (postgresFault(error) === 'lost') return again // no connection could be opened
      throw error
    }
  }

  async #once<T>(member: Member<Q>, work: (queries: Q) => Awaitable<T>, beginText: string): Promise<Attempt<T>> {
    const { link, queries, timeline } = member
    member.failure = null
    member.isInTransaction = true
    const begun = link.sendAll(beginText).catch((error: unknown) => {
      member.failure = { error } // that of the body follows from it
      return []
    })
    let value: T
    try {
      value = await work(queries)
    } catch (error) {
      await begun
      return await this.#undo(member, error)
    } finally {
      member.isInTransaction = false
    }
    const transaction = { id: String((await begun)[1]?.rows[0]?.[0]), timeline }
    try {
      const { command } = await link.send('COMMIT', [])
      if (command === 'COMMIT') {
        this.timelines.note(transaction.id)
        return { kind: 'done', value }
      }
    } catch (error) {
      const isUnknown = postgresFault(error) === 'lost' && member.failure === null
      if (isUnknown && (await this.#isCommitted(transaction))) return { kind: 'done', value }
      if (isUnknown) return again
      return await this.#undo(member, error)
    }
    // The server has rolled back, because a statement failed.
    return await this.#undo(member, new Error('A transaction was rolled back instead of committed.'))
  }

  /** Rolls back, and tells whether to run again. @throws the error of the body, or unavailable */
  async #undo({ link, failure }: Member<Q>, error: unknown): Promise<{ readonly kind: 'again' }> {
    if (link.isOpen) await link.send('ROLLBACK', []).catch(() => link.close())
    const cause = failure?.error ?? error
    const kind = postgresFault(cause)
    if (kind === 'lost' || kind === 'rerun') return again
    throw kind === 'refused' ? unavailable(1) : cause
  }

  /**
   * Whether a transaction whose COMMIT was not answered is kept. It must not run again before this is known: a refresh would
   * meet its own token as spent.
   * @throws unavailable if the servers cannot tell
   */
  async #isCommitted(transaction: { readonly id: string; readonly timeline: string }): Promise<boolean> {
    for (const giveUpAt = performance.now() + longestMs; performance.now() < giveUpAt; await Bun.sleep(100)) {
      const found = await this.primary.connect().catch(() => null)
      if (found === null) continue
      try {
        const isKept = await statusOf(transaction, found)
        if (isKept !== null) return isKept
      } catch (error) {
        if (postgresFault(error) !== 'lost') throw error
      } finally {
        found.link.close()
      }
    }
    throw unavailable(5)
  }
}

/** Null while the transaction is still in progress. @throws unavailable if this server cannot tell */
const statusOf = async (
  transaction: { readonly id: string; readonly timeline: string },
  { link, timeline }: PrimaryLink,
): Promise<boolean | null> => {
  const status = await link
    .send('SELECT pg_xact_status($1::text::xid8)', [transaction.id])
    .then(({ rows }) => rows[0]?.[0])
    .catch((error: unknown) => {
      if (sqlState(error) === '22023') return 'aborted' // an ID of the future: this server has never seen it
      throw error
    })
  if (status === 'aborted') return false
  if (status === 'in progress') return null
  // After a promotion another transaction may have got the ID.
  if (status !== 'committed' || timeline !== transaction.timeline) throw unavailable(5)
  // The server may have shown the commit before the standby had it. When a later one is answered, the standby has both.
  await link.send(barrierText, [])
  return true
}

/** Writes to the WAL and to no table. */
const barrierText = "SELECT pg_logical_emit_message(true, 'app-platform', 'barrier')"
