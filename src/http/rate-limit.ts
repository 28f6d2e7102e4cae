import { hash } from 'node:crypto'
import type { LimitChange, LimitDebt, RateLimit, RateLimitPolicy, RateLimits } from '../domain/limits.ts'
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
  /** Tells the other servers what failures have been counted here, and learns what they have counted. */
  share(merge: (changes: readonly LimitChange[]) => Promise<readonly LimitDebt[]>): Promise<void>
}

/** What is counted by all servers together: tries of guessers, who would otherwise have as many more as there are servers. */
const sharedPolicies = ['failed', 'sign_in', 'code'] as const satisfies readonly RateLimitPolicy[]
/** How many keys of a policy are told at a time. Beyond that, those that owe least are counted by this server alone until the next time. */
const toldAtOnce = 250

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
const createBuckets = (
  policy: RateLimitPolicy,
  { count, seconds }: RateLimit,
  markOf: (key: string) => LimitMark,
  isShared: boolean,
) => {
  // Time is counted in units of 1/count ms. One request then costs as many units as the window has milliseconds, and
  // nothing is rounded.
  const cost = seconds * 1000
  const quota = cost * count
  const fingerprints = new Float64Array(sets * ways)
  const backAt = new Float64Array(sets * ways)
  const wayUsed = new Uint8Array(sets * ways)
  /** What was added to each place and other servers have not been told. */
  const untold = isShared ? new Map<number, number>() : null

  /** The place of a fingerprint in its set, or the place it would take over. */
  const placeOf = (first: number, fingerprint: number): number => {
    let least = first
    for (let place = first; place < first + ways; place += 1) {
      if (wayUsed[place] === 1 && fingerprints[place] === fingerprint) return place
      if ((backAt[place] ?? 0) < (backAt[least] ?? 0)) least = place
    }
    return least
  }

  const locate = (key: string): { readonly place: number; readonly fingerprint: number } => {
    const { number, fingerprint } = markOf(key)
    return { place: placeOf((number % sets) * ways, fingerprint), fingerprint }
  }

  const isAt = (place: number, fingerprint: number) => wayUsed[place] === 1 && fingerprints[place] === fingerprint

  const put = (place: number, fingerprint: number, owed: number) => {
    fingerprints[place] = fingerprint
    wayUsed[place] = 1
    backAt[place] = owed
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
      untold?.set(place, (isAt(place, fingerprint) ? (untold.get(place) ?? 0) : 0) + cost)
      put(place, fingerprint, owed)
      return owed
    },
    giveBack: (key: string, now: number) => {
      const { place, fingerprint } = locate(key)
      if (!isAt(place, fingerprint)) return
      const owed = owedAt(place, now)
      backAt[place] = Math.max(now, owed - cost)
      untold?.set(place, (untold.get(place) ?? 0) - Math.min(cost, owed - now))
    },
    /** What was counted here since the last call, the keys with most of it first. What is owed no more is left out. */
    tell: (now: number): LimitChange[] => {
      const told: LimitChange[] = []
      for (const [place, units] of [...(untold ?? [])].toSorted(([, one], [, other]) => other - one)) {
        if (told.length === toldAtOnce) break
        untold?.delete(place)
        const owed = owedAt(place, now) - now
        if (units === 0 || (units > 0 && owed === 0)) continue
        const micros = (amount: number) => Math.round((amount * 1000) / count)
        const key = { policy, set: Math.floor(place / ways), fingerprint: fingerprints[place] ?? 0 }
        told.push({ ...key, owed: micros(owed), added: micros(Math.min(units, owed)), window: micros(quota) })
      }
      return told
    },
    /** What could not be told is told the next time. */
    keepUntold: ({ set, fingerprint, added }: LimitChange) => {
      const place = placeOf(set * ways, fingerprint)
      if (isAt(place, fingerprint)) untold?.set(place, (untold.get(place) ?? 0) + (added * count) / 1000)
    },
    /** Takes over what all servers have counted for a key. What was counted here since it was told is on top. */
    learn: ({ set, fingerprint, owed }: LimitDebt, now: number) => {
      const place = placeOf(set * ways, fingerprint)
      const until = now + (owed * count) / 1000
      if (isAt(place, fingerprint)) backAt[place] = until + (untold?.get(place) ?? 0)
      else if (until > owedAt(place, now)) {
        untold?.delete(place)
        put(place, fingerprint, until)
      }
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

/**
 * Null switches limits off. `monotonicMs` may start anywhere but must not go back. `secret` is random text known to nobody else;
 * servers that share limits have the same.
 */
export const createRateLimiter = (options: {
  readonly limits: RateLimits | null
  readonly monotonicMs: () => number
  readonly secret: string
  readonly isShared?: boolean
}): RateLimiter => {
  const { limits, isShared = false } = options
  if (limits === null) {
    return {
      take: unlimited,
      peek: unlimited,
      charge: unlimited,
      giveBack: () => undefined,
      share: async () => undefined,
    }
  }
  const startedAt = options.monotonicMs()
  const markOf = createLimitMarks(options.secret)
  // Allocated at first use: ten times half a megabyte would take a tenth of the program's start.
  const policies: Partial<Record<RateLimitPolicy, Buckets>> = {}
  const bucketsOf = (policy: RateLimitPolicy): Buckets =>
    (policies[policy] ??= createBuckets(policy, limits[policy], markOf, isShared && isSharedPolicy(policy)))
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
    share: async (merge) => {
      const atMs = Math.floor(options.monotonicMs() - startedAt)
      const changes = sharedPolicies.flatMap((policy) => policies[policy]?.tell(atMs * limits[policy].count) ?? [])
      const debts = await merge(changes).catch((error: unknown) => {
        for (const change of changes) policies[change.policy]?.keepUntold(change)
        throw error
      })
      // Reckoned from before the call: a key never owes more for the time that the call took.
      for (const debt of debts) bucketsOf(debt.policy).learn(debt, atMs * limits[debt.policy].count)
    },
  }
}

const isSharedPolicy = (policy: RateLimitPolicy): boolean => sharedPolicies.some((shared) => shared === policy)

/** The RateLimit field of draft-ietf-httpapi-ratelimit-headers. */
export const rateLimitField = ({ policy, remaining, resetSeconds }: RateLimitState): string =>
  `"${policy}";r=${remaining};t=${resetSeconds}`
