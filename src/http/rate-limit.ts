import { hash } from 'node:crypto'
import type { RateLimit, RateLimitPolicy, RateLimits } from '../domain/limits.ts'

export type { RateLimitPolicy } from '../domain/limits.ts'

/** Where a key stands with a policy. */
export type RateLimitState = {
  readonly policy: RateLimitPolicy
  readonly allowed: boolean
  readonly remaining: number
  /** Until all of the quota is back, or, when refused, until one request is allowed again; rounded up. */
  readonly resetSeconds: number
  /** The policy as the RateLimit-Policy header tells it; null when limits are off. */
  readonly policyField: string | null
}

export type RateLimiter = {
  /** Spends one, if there is one. */
  take(policy: RateLimitPolicy, key: string): RateLimitState
  /** Whether `take` would be allowed; spends nothing. */
  peek(policy: RateLimitPolicy, key: string): RateLimitState
  /** Spends one also when none is left, up to a second quota: for what was let through by `peek` and has happened since. */
  charge(policy: RateLimitPolicy, key: string): RateLimitState
  /** Returns one that was taken. */
  giveBack(policy: RateLimitPolicy, key: string): void
}

/** How a limit knows a key: 32 bits give its set, and 48 more bits identify it there. */
type LimitMark = { readonly number: number; readonly fingerprint: number }

const rememberedMarks = 4096

/**
 * Marks are taken from SHA-256 over a secret and the key, so nobody can find a key with the mark of another. Hashing costs more
 * than the rest of a count, and a request counts the same few keys several times. So the marks of recent keys are remembered,
 * and all forgotten at once. Keys must be of bounded length.
 */
export const createLimitMarks = (secret: string): ((key: string) => LimitMark) => {
  const marks = new Map<string, LimitMark>()
  return (key) => {
    const known = marks.get(key)
    if (known !== undefined) return known
    const digest = hash('sha256', secret + key, 'buffer')
    const mark = { number: digest.readUInt32LE(0), fingerprint: digest.readUIntLE(4, 6) }
    if (marks.size >= rememberedMarks) marks.clear()
    marks.set(key, mark)
    return mark
  }
}

const ways = 8
const sets = 4096

/**
 * The memory of one policy: 32,768 keys in fixed arrays, whatever callers send. A key lives in one set of eight places.
 *
 * What is kept per key is one number (the generic cell rate algorithm): the moment at which its whole quota will be back.
 * A key that finds its set full takes the place of the one that owes least and *takes over its debt* (the rule of
 * Space-Saving counters). So nobody's debt is ever forgotten: to shed its own, a caller would have to fill a set with keys
 * that owe as much, and would then find that debt waiting. The price is paid only in a flood of more live keys than
 * there is room for, by newcomers, who start with the smallest debt in their set.
 */
const createBuckets = (policy: RateLimitPolicy, { count, seconds }: RateLimit, markOf: (key: string) => LimitMark) => {
  // Time is counted in units of 1/count ms: one request then costs as many units as the window
  // has milliseconds, and nothing is ever rounded.
  const cost = seconds * 1000
  const quota = cost * count
  const fingerprints = new Float64Array(sets * ways)
  const backAt = new Float64Array(sets * ways)
  const wayUsed = new Uint8Array(sets * ways)

  /** The key's place, or the place that it would take over. */
  const locate = (key: string): { readonly place: number; readonly fingerprint: number } => {
    const { number, fingerprint } = markOf(key)
    const first = (number % sets) * ways
    let least = first
    for (let place = first; place < first + ways; place += 1) {
      if (wayUsed[place] === 1 && fingerprints[place] === fingerprint) return { place, fingerprint }
      if ((backAt[place] ?? 0) < (backAt[least] ?? 0)) least = place
    }
    return { place: least, fingerprint }
  }

  const owedAt = (place: number, now: number) => Math.max(backAt[place] ?? 0, now)

  return {
    cost,
    quota,
    count,
    policyField: `"${policy}";q=${count};w=${seconds}`,
    read: (key: string, now: number) => owedAt(locate(key).place, now),
    /** Adds to what the key owes, unless that would be more than `most`; gives what it would owe then. */
    spend: (key: string, now: number, most: number): number => {
      const { place, fingerprint } = locate(key)
      const owed = owedAt(place, now) + cost
      if (owed - now > most) return owed
      fingerprints[place] = fingerprint
      wayUsed[place] = 1
      backAt[place] = owed
      return owed
    },
    giveBack: (key: string, now: number) => {
      const { place, fingerprint } = locate(key)
      if (wayUsed[place] !== 1 || fingerprints[place] !== fingerprint) return
      backAt[place] = Math.max(now, owedAt(place, now) - cost)
    },
  }
}

type Buckets = ReturnType<typeof createBuckets>

const describe = (policy: RateLimitPolicy, buckets: Buckets, owed: number, now: number, allowed: boolean) => {
  const debt = Math.min(owed - now, buckets.quota)
  const until = allowed ? debt : owed - now - buckets.quota
  return {
    policy,
    allowed,
    remaining: Math.floor((buckets.quota - debt) / buckets.cost),
    resetSeconds: Math.ceil(until / buckets.count / 1000),
    policyField: buckets.policyField,
  }
}

/** What every question gets when limits are off. */
const unlimited = (policy: RateLimitPolicy): RateLimitState => ({
  policy,
  allowed: true,
  remaining: Number.POSITIVE_INFINITY,
  resetSeconds: 0,
  policyField: null,
})

/** Null limits are no limits. `monotonicMs` may start anywhere and must not go back; `secret` is random text that nobody else knows. */
export const createRateLimiter = (options: {
  readonly limits: RateLimits | null
  readonly monotonicMs: () => number
  readonly secret: string
}): RateLimiter => {
  const { limits } = options
  if (limits === null) {
    return { take: unlimited, peek: unlimited, charge: unlimited, giveBack: () => undefined }
  }
  const startedAt = options.monotonicMs()
  const markOf = createLimitMarks(options.secret)
  // Made when they are first asked: seven times half a megabyte of zeros would be a tenth of the start of the program.
  const policies: Partial<Record<RateLimitPolicy, Buckets>> = {}
  const bucketsOf = (policy: RateLimitPolicy): Buckets =>
    (policies[policy] ??= createBuckets(policy, limits[policy], markOf))
  const unitsNow = (buckets: Buckets) => Math.floor(options.monotonicMs() - startedAt) * buckets.count

  return {
    take: (policy, key) => {
      const buckets = bucketsOf(policy)
      const now = unitsNow(buckets)
      const owed = buckets.spend(key, now, buckets.quota)
      return describe(policy, buckets, owed, now, owed - now <= buckets.quota)
    },
    peek: (policy, key) => {
      const buckets = bucketsOf(policy)
      const now = unitsNow(buckets)
      const owed = buckets.read(key, now)
      const allowed = owed + buckets.cost - now <= buckets.quota
      return describe(policy, buckets, allowed ? owed : owed + buckets.cost, now, allowed)
    },
    charge: (policy, key) => {
      const buckets = bucketsOf(policy)
      const now = unitsNow(buckets)
      return describe(policy, buckets, buckets.spend(key, now, 2 * buckets.quota), now, true)
    },
    giveBack: (policy, key) => {
      const buckets = bucketsOf(policy)
      buckets.giveBack(key, unitsNow(buckets))
    },
  }
}

/** The RateLimit field of draft-ietf-httpapi-ratelimit-headers. */
export const rateLimitField = ({ policy, remaining, resetSeconds }: RateLimitState): string =>
  `"${policy}";r=${remaining};t=${resetSeconds}`
