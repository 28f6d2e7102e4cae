import { createHash } from 'node:crypto'
import type { IdempotencyScope, Queries } from '../../db/database.ts'
import { type ErrorCode, type ErrorFacts, refuse } from '../domain/errors.ts'
import { sameHash } from '../domain/secret.ts'
import { type Decision, done, refused } from './decision.ts'
import type { Platform } from './platform.ts'
import { storedJson } from './stored-json.ts'

/** A request that may be repeated: its sender, method, path and idempotency key, and the SHA-256 of its body. */
export type RepeatableRequest = IdempotencyScope & { readonly bodyHash: Uint8Array }
type RepeatableWork<T> = {
  /** Null for a request without a key, which runs every time. */
  readonly request: RepeatableRequest | null
  /** Epoch milliseconds. */
  readonly now: number
  /** What must be stored before the transaction. Skipped if the request was answered before. */
  readonly prepare?: () => Promise<void>
  readonly work: (q: Queries) => Promise<Decision<T>>
}
export type Once<T> = { readonly value: T; readonly replayed: boolean }

/** The stored form of an outcome. It must survive JSON unchanged. */
type KeptOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly facts: ErrorFacts }

const keptForMs = 24 * 3600 * 1000

/**
 * Runs the work once per idempotency key (contract section 5). The outcome is stored in the transaction of the effect, so
 * a crash leaves both or neither. The same request gets the same outcome again. Another body under the key is refused, and
 * so is a repeat while the first request is running.
 * @throws idempotency_key_reused, idempotency_in_progress, and what the work refuses with
 */
export const once = async <T>(
  platform: Platform,
  { request, now, prepare, work }: RepeatableWork<T>,
): Promise<Once<T>> => {
  if (request === null) {
    await prepare?.()
    return unwrap(await platform.database.transaction(work), false)
  }
  const running = JSON.stringify([request.principal, request.method, request.path, request.key])
  if (platform.running.has(running)) throw refuse('idempotency_in_progress', { retryAfterSeconds: 1 })
  platform.running.add(running)
  try {
    const before = await repeated<T>(platform.database.queries, request, now)
    if (before !== null) return unwrap(before, true)
    await prepare?.()
    const outcome = await platform.database.transaction(async (q) => {
      const kept = await repeated<T>(q, request, now)
      if (kept !== null) return { decision: kept, replayed: true }
      const decision = await work(q)
      if (isKept(decision)) {
        const { bodyHash } = request
        const outcome = JSON.stringify(toKept(decision))
        await q.idempotency.keep({ ...keptName(request), bodyHash, outcome, expiresAt: now + keptForMs })
      }
      return { decision, replayed: false }
    })
    return unwrap(outcome.decision, outcome.replayed)
  } finally {
    platform.running.delete(running)
  }
}

const unwrap = <T>(decision: Decision<T>, replayed: boolean): Once<T> => {
  if (decision.kind === 'refused') throw decision.error
  return { value: decision.value, replayed }
}

/** The key is chosen by the caller, so only its SHA-256 is stored. */
const keptName = ({ principal, method, path, key }: RepeatableRequest): IdempotencyScope => ({
  principal,
  method,
  path,
  key: createHash('sha256').update(key).digest('base64url'),
})

const repeated = async <T>(q: Queries, request: RepeatableRequest, now: number): Promise<Decision<T> | null> => {
  const kept = await q.idempotency.find(keptName(request))
  if (kept === null || now >= kept.expiresAt) return null
  if (!sameHash(kept.bodyHash, request.bodyHash)) return refused(refuse('idempotency_key_reused'))
  const outcome = storedJson<KeptOutcome<T>>(kept.outcome)
  return outcome.kind === 'done'
    ? done(outcome.value)
    : refused(refuse(outcome.code, { ...outcome.facts, replayed: true }))
}

/** 400, 401, 429 and 5xx are not stored, because the same request may succeed next time. */
const isKept = <T>(decision: Decision<T>): boolean =>
  decision.kind === 'done' || [403, 404, 409, 413, 422].includes(decision.error.status)

const toKept = <T>(decision: Decision<T>): KeptOutcome<T> =>
  decision.kind === 'done' ? decision : { kind: 'refused', code: decision.error.code, facts: decision.error.facts }
