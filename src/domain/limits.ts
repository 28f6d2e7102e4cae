/** The longest head of a request. Bun's own limit of 16 KiB would answer a long token without an envelope. */
export const maximumHeaderBytes = 128 * 1024

/** `count` calls in `seconds`, at once or spread out. */
export type RateLimit = { readonly count: number; readonly seconds: number }

/** Section 5 of the contract says what each limit counts, and per what. */
export const defaultRateLimits = {
  token: { count: 600, seconds: 60 },
  failed: { count: 120, seconds: 300 },
  authorize: { count: 120, seconds: 60 },
  read: { count: 3_000, seconds: 60 },
  write: { count: 120, seconds: 60 },
  daily: { count: 2_000, seconds: 86_400 },
  management: { count: 6_000, seconds: 60 },
  sign_in: { count: 10, seconds: 300 },
  code: { count: 10, seconds: 3_600 },
  address: { count: 6_000, seconds: 60 },
} as const satisfies Readonly<Record<string, RateLimit>>

export type RateLimitPolicy = keyof typeof defaultRateLimits
export type RateLimits = Readonly<Record<RateLimitPolicy, RateLimit>>

/** A key under a limit, as a keyed hash. Times are in microseconds. */
type LimitKey = { readonly policy: RateLimitPolicy; readonly set: number; readonly fingerprint: number }

/** How long until a key owes nothing, as far as one server knows, what this server has newly added, and the window of the limit. */
export type LimitChange = LimitKey & { readonly owed: number; readonly added: number; readonly window: number }

/** How long until a key owes nothing, by the counts of all servers. */
export type LimitDebt = LimitKey & { readonly owed: number }

/** How much one app and one account may store. Each is a setting. `test/operations/bounds.test.ts` has what bounds every table. */
export const defaultQuotas = {
  /** Bytes of all uploaded artifacts of one app; an artifact used by several versions counts once. */
  artifactBytes: 1024 ** 3,
  /** Versions of one app, which are kept for ever. With the largest manifests they take 1 GiB. */
  versions: 4_000,
  /** Apps per account. */
  apps: 100,
} as const
export type Quotas = Readonly<Record<keyof typeof defaultQuotas, number>>

/** How many days audit events are kept (contract section 5). Each is a setting. */
export const defaultAuditRetention = {
  days: 400,
  /** For refusals without a known caller. */
  anonymousDays: 30,
} as const
export type AuditRetention = Readonly<Record<keyof typeof defaultAuditRetention, number>>
