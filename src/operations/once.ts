import { createHash } from 'node:crypto'
import type { IdempotencyScope, Queries } from '../../db/database.ts'
import { type ErrorCode, type ErrorFacts, PlatformError, refuse } from '../domain/errors.ts'
import { sameHash } from '../domain/secret.ts'
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
  /** Returns a refusal that may be stored, instead of throwing it. */
  readonly work: (q: Queries) => Promise<T | PlatformError>
}
export type Once<T> = { readonly value: T; readonly replayed: boolean }
type Outcome<T> = Once<T | PlatformError>

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
  const { database, running } = platform
  if (request === null) {
    await prepare?.()
    return unlessRefused({ value: await database.transaction(work), replayed: false })
  }
  const name = JSON.stringify([request.principal, request.method, request.path, request.key])
  if (running.has(name)) throw refuse('idempotency_in_progress', { retryAfterSeconds: 1 })
  running.add(name)
  try {
    const before = await repeated<T>(database.queries, request, now)
    if (before !== null) return unlessRefused(before)
    await prepare?.()
    const outcome = await database.transaction(async (q) => {
      const kept = await repeated<T>(q, request, now)
      if (kept !== null) return kept
      const value = await work(q)
      if (isKept(value)) {
        const { bodyHash } = request
        const outcome = JSON.stringify(toKept(value))
        await q.idempotency.keep({ ...keptName(request), bodyHash, outcome, expiresAt: now + keptForMs })
      }
      return { value, replayed: false }
    })
    return unlessRefused(outcome)
  } finally {
    running.delete(name)
  }
}

const unlessRefused = <T>({ value, replayed }: Outcome<T>): Once<T> => {
  if (value instanceof PlatformError) throw value
  return { value, replayed }
}

/** The key is chosen by the caller, so only its SHA-256 is stored. */
const keptName = ({ principal, method, path, key }: RepeatableRequest): IdempotencyScope => ({
  principal,
  method,
  path,
  key: createHash('sha256').update(key).digest('base64url'),
})

const repeated = async <T>(q: Queries, request: RepeatableRequest, now: number): Promise<Outcome<T> | null> => {
  const kept = await q.idempotency.find(keptName(request))
  if (kept === null || now >= kept.expiresAt) return null
  if (!sameHash(kept.bodyHash, request.bodyHash)) return { value: refuse('idempotency_key_reused'), replayed: true }
  const outcome = storedJson<KeptOutcome<T>>(kept.outcome)
  const value =
    outcome.kind === 'done' ? outcome.value : new PlatformError(outcome.code, { ...outcome.facts, replayed: true })
  return { value, replayed: true }
}

/** 400, 401, 429 and 5xx are not stored, because the same request may succeed next time. */
const isKept = (value: unknown): boolean =>
  !(value instanceof PlatformError) || [403, 404, 409, 413, 422].includes(value.status)

const toKept = <T>(value: T | PlatformError): KeptOutcome<T> =>
  value instanceof PlatformError ? { kind: 'refused', code: value.code, facts: value.facts } : { kind: 'done', value }
