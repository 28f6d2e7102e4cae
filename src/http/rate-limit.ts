import { hash } from 'node:crypto'
import type { RateLimit, RateLimitPolicy, RateLimits } from '../domain/limits.ts'
import { remembered } from '../domain/remembered.ts'

/** The state of a key under a policy. */
export type RateLimitState = {
  readonly policy: RateLimitPolicy
  readonly allowed: boolean
  readonly remaining: number
  /** Until the whole quota is available again or, after a refusal, until one request is; rounded up. */
  readonly resetSeconds: number
  /** The RateLimit-Policy header; null if limits are off. */
  readonly policyField: string | null
}

export type RateLimiter = {
  /** Takes one, if any is left. */
  take(policy: RateLimitPolicy, key: string): RateLimitState
  /** Whether `take` would be allowed; takes nothing. */
  peek(policy: RateLimitPolicy, key: string): RateLimitState
  /** Takes one even if none is left, up to a second quota: for a request that `peek` allowed and that has happened since. */
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
export const createLimitMarks = (secret: string): ((key: string) => LimitMark) =>
  remembered(rememberedMarks, (key) => {
    const digest = hash('sha256', secret + key, 'buffer')
    return { number: digest.readUInt32LE(0), fingerprint: digest.readUIntLE(4, 6) }
  })

const ways = 8
const sets = 4096

/**
 * The memory of one policy: 32,768 keys in fixed arrays, whatever callers send. A key lives in one set of eight places.
 *
 * One number is kept per key (the generic cell rate algorithm): the time at which its whole quota will be available again. A
 * key that finds its set full replaces the one that owes least and takes over its debt (the rule of Space-Saving counters). So
 * no debt is ever forgotten: to lose its own, a caller would have to fill a set with keys that owe as much, and would then get
 * that debt back. Only a flood of more live keys than there is room for has a price: new keys start with the smallest
 * debt of their set.
 */
const createBuckets = (policy: RateLimitPolicy, { count, seconds }: RateLimit, markOf: (key: string) => LimitMark) => {
  // Time is counted in units of 1/count ms. One request then costs as many units as the window has milliseconds, and
  // nothing is rounded.
  const cost = seconds * 1000
  const quota = cost * count
  const fingerprints = new Float64Array(sets * ways)
  const backAt = new Float64Array(sets * ways)
  const wayUsed = new Uint8Array(sets * ways)

  /** The key's place, or the place it would take over. */
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

/** The state of every key if limits are off. */
const unlimited = (policy: RateLimitPolicy): RateLimitState => ({
  policy,
  allowed: true,
  remaining: Number.POSITIVE_INFINITY,
  resetSeconds: 0,
  policyField: null,
})

/** Null switches limits off. `monotonicMs` may start anywhere but must not go back. `secret` is random text known to nobody else. */
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
  // Allocated at first use: seven times half a megabyte would take a tenth of the program's start.
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
