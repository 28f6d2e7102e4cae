import type { Awaitable } from '../../src/domain/awaitable.ts'
import { DatabaseUnusable, type TransactionKind } from '../database.ts'
import type { Conditional, RunOutcome } from './conditional.ts'
import { serialLockText } from './dialect.ts'
import { ConnectionLost, postgresFault, sqlState, unavailable } from './fault.ts'
import type { Link } from './link.ts'
import type { Member, Pool } from './pool.ts'
import { barrierText, type Primary, type PrimaryLink } from './primary.ts'
import { isLatest, type Freshness } from './readers.ts'
import { lockMissingSentence } from './schema.ts'
import type { Timelines } from './timelines.ts'

const mostAttempts = 5
const longestMs = 5_000
/** How long a server has to tell what became of a commit. */
const longestAnswerMs = 2_000

/** The kinds that have a connection for themselves. */
type Locking = Exclude<TransactionKind, 'conditional'>

/**
 * All kinds are READ COMMITTED. What becomes of a transaction whose answer does not come:
 *
 * - The one change of a `conditional` body commits by itself. If nothing changed or the answer is lost, the body runs again as `guarded`:
 *   at the row's lock it waits for a statement that is still under way, and then it finds what it has changed itself.
 * - A `guarded` or `serial` body whose COMMIT is not answered does not run again before the server has told what became of it by the ID of
 *   the transaction (`#isCommitted`).
 * - If nobody can tell, the answer is `unavailable`, and the client may repeat what it may repeat.
 *
 * Nothing is answered that a failover would lose: what another connection has seen committed is followed by a commit of its own, which the
 * standby confirms (`barrierText`); after a promotion nothing is answered before the servers agree (`Timelines`), and reads count only
 * while the server is heard (`Pulse`).
 */
export class Transactions<Q> {
  /** Answered transactions. Each has a commit of its own. */
  count = 0
  reruns = 0

  constructor(
    private readonly pools: Readonly<Record<Locking, Pool<Member<Q>>>>,
    private readonly conditional: Conditional<Q>,
    private readonly primary: Primary,
    private readonly timelines: Timelines,
    private readonly freshness: Freshness,
  ) {}

  /**
   * Runs the body, and again if another transaction was first or the connection was lost before COMMIT.
   * @throws unavailable if that does not help, if nobody can tell whether the commit was kept, or if it has only read what may be
   *   out of date
   */
  async run<T>(work: (queries: Q) => Awaitable<T>, kind: TransactionKind): Promise<T> {
    if (kind === 'conditional') {
      const outcome = await this.#conditionally(work)
      return outcome.kind === 'done' ? await this.#acknowledged(outcome.value) : await this.run(work, 'guarded')
    }
    const giveUpAt = performance.now() + longestMs
    let cause: unknown
    for (let attempt = 1; attempt <= mostAttempts && performance.now() < giveUpAt; attempt += 1) {
      const outcome = await this.#attempt(work, kind)
      if (outcome.kind === 'done' && (outcome.onlyRead == null || (await isLatest(outcome.onlyRead, this.freshness)))) {
        return await this.#acknowledged(outcome.value)
      }
      if (outcome.kind === 'again') cause = outcome.cause
      this.reruns += 1
      await Bun.sleep(Math.random() * 20 * attempt)
    }
    throw unavailable(1, cause)
  }

  async #acknowledged<T>(value: T): Promise<T> {
    if (!this.timelines.isSettled) await this.timelines.settled()
    this.count += 1
    return value
  }

  async #conditionally<T>(work: (queries: Q) => Awaitable<T>) {
    try {
      return await this.conditional.run(work)
    } catch (error) {
      throw postgresFault(error) === 'refused' ? unavailable(1, error) : error
    }
  }

  async #attempt<T>(work: (queries: Q) => Awaitable<T>, kind: Locking): Promise<RunOutcome<T>> {
    try {
      return await this.pools[kind].use((member) => this.#once(member, work, kind))
    } catch (error) {
      const fault = postgresFault(error) // no connection could be opened
      if (fault === 'lost') return { kind: 'again', cause: error }
      throw fault === 'refused' ? unavailable(1, error) : error
    }
  }

  /**
   * BEGIN goes with the first statement that locks or changes something and that the body waits for, and COMMIT with those that
   * it did not wait for. `test/db/postgres/round-trips.test.ts` counts.
   */
  async #once<T>(member: Member<Q>, work: (queries: Q) => Awaitable<T>, kind: Locking): Promise<RunOutcome<T>> {
    const { link, queries, timeline } = member
    member.start()
    if (kind === 'serial') {
      // They run one after the other over all nodes, so each sees everything that the ones before it committed.
      member.begin()
      lockSerial(link).catch(() => undefined)
    }
    let value: T
    try {
      value = await work(queries)
    } catch (error) {
      return await this.#undo(member, error)
    } finally {
      member.isInTransaction = false
    }
    if (!member.readsAreCurrent) return await this.#undo(member, new ConnectionLost())
    if (!member.hasWritten && member.readFrom !== null) return { kind: 'done', value, onlyRead: member.readFrom }
    member.begin()
    // Without the ID nobody could be asked about the commit; what has failed is not committed.
    const id = link.transactionId ?? (await link.askId().catch(() => null))
    if (id === null || link.hasFailed) return await this.#undo(member, new ConnectionLost())
    try {
      if (await link.commit()) {
        if (link.hasWritten) this.timelines.note(id) // a standby need not have the others
        return { kind: 'done', value, onlyRead: link.hasWritten ? null : link }
      }
    } catch (error) {
      await member.pushed
      const isUnknown = postgresFault(error) === 'lost' && postgresFault(link.failure?.error) === 'lost'
      if (isUnknown && (await this.#isCommitted({ id, timeline }))) return { kind: 'done', value }
      if (isUnknown) return { kind: 'again', cause: error }
      return await this.#undo(member, error)
    }
    return await this.#undo(member, new Error('A transaction was rolled back instead of committed.'))
  }

  /** Rolls back, and tells whether to run again. @throws the error of the body, or unavailable */
  async #undo({ link, pushed, hasBegun }: Member<Q>, error: unknown): Promise<RunOutcome<never>> {
    if (hasBegun && link.isOpen) await link.rollback().catch(() => link.close())
    await pushed
    const cause = link.failure?.error ?? error
    const kind = postgresFault(cause)
    if (kind === 'lost' || kind === 'rerun') return { kind: 'again', cause }
    throw kind === 'refused' ? unavailable(1, cause) : cause
  }

  /**
   * Whether a transaction whose COMMIT was not answered is kept. It must not run again before this is known: most bodies do not
   * recognise what they have changed, as a refresh does.
   * @throws unavailable if the servers cannot tell
   */
  async #isCommitted(transaction: { readonly id: string; readonly timeline: string }): Promise<boolean> {
    for (const giveUpAt = performance.now() + longestMs; performance.now() < giveUpAt; await Bun.sleep(100)) {
      const found = await this.primary.connect().catch(() => null)
      if (found === null) continue
      try {
        const isKept = await found.link.within(longestAnswerMs, async () => await statusOf(transaction, found))
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

/** Notes a failure, so that the transaction is not committed, if there is nothing to lock. */
const lockSerial = async (link: Link): Promise<void> => {
  const { rows } = await link.send(serialLockText, ['serial'], true)
  if (rows.length === 0) link.failure ??= { error: new DatabaseUnusable('altered', lockMissingSentence) }
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
