import type { PlatformError } from '../domain/errors.ts'
import { type MemberRole, type OfferedRole, offeredRoles } from '../domain/member.ts'
import type { ResourceKind } from '../domain/resource.ts'
import { parseTimestamp } from '../domain/timestamp.ts'
import type { AppOverview } from '../operations/apps/lists.ts'

/** What people call each kind of resource. */
export const resourceKindWords = { site: 'Website', store: 'Store' } as const satisfies Record<ResourceKind, string>

/** The same in the middle of a sentence. */
export const resourceKindInSentence = (kind: ResourceKind): string => resourceKindWords[kind].toLowerCase()

/** `2 active, 1 waiting for approval`, or `None yet`. */
export const installCountsInWords = (counts: AppOverview['installs']): string => {
  const active = sum(counts.filter(({ state }) => state === 'active'))
  const pending = sum(counts.filter(({ approval }) => approval === 'pending'))
  return active + pending === 0 ? 'None yet' : `${active} active, ${pending} waiting for approval`
}

const sum = (counts: AppOverview['installs']): number => counts.reduce((total, { count }) => total + count, 0)

/** What a slug is, beside the field for one. */
export const slugHint =
  'Used in addresses and commands. 1 to 63 characters: a-z, 0-9, and hyphens inside. It cannot be changed.'

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

export const counted = (count: number, unit: string): string =>
  `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`

/** A lifetime in the largest unit that is exact: `30 days`, `1 hour`, `90 minutes`. */
export const lifetimeInWords = (seconds: number): string => {
  const [unit, size] = units.find(([, size]) => seconds % size === 0) ?? (['second', 1] as const)
  return counted(seconds / size, unit)
}

/** A duration in its two largest units: `3 days 4 hours`, `1 minute 5 seconds`. */
export const durationInWords = (seconds: number): string => unitsOf(seconds).slice(0, 2).join(' ')

/** How long a call took: `250 ms`, `1.2 s`. */
export const millisecondsInWords = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`)

const unitsOf = (seconds: number): readonly string[] => {
  const words = units.flatMap(([unit, size], index) => {
    const larger = units[index - 1]?.[1] ?? Number.POSITIVE_INFINITY
    const count = Math.floor((seconds % larger) / size)
    return count === 0 ? [] : [counted(count, unit)]
  })
  return words.length === 0 ? ['0 seconds'] : words
}

/** Why something was refused. After too many tries it says how long to wait: `Try again in 4 minutes.` */
export const refusalInWords = ({ message, facts: { retryAfterSeconds } }: PlatformError): string => {
  if (retryAfterSeconds === undefined) return message
  const wait = retryAfterSeconds < 60 ? Math.max(1, Math.ceil(retryAfterSeconds)) : Math.ceil(retryAfterSeconds / 60)
  return `${message} Try again in ${counted(wait, retryAfterSeconds < 60 ? 'second' : 'minute')}.`
}

/** `just now`, `5 min ago`, `2 h ago`, `3 d ago`; the day if it is more than thirty days ago, or in the future. */
export const agoInWords = (at: number, now: number): string => {
  const minutes = Math.floor((now - at) / 60_000)
  if (minutes < -1 || minutes >= 30 * 1_440) return new Date(at).toISOString().slice(0, 10)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  return minutes < 1_440 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} d ago`
}

/** A time that a person typed, in UTC: a day, a day and a time, or a full RFC 3339 timestamp. Null for anything else. */
export const readMoment = (text: string): number | null => {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return parseTimestamp(`${text}T00:00:00Z`)
  const [, minute, zone = 'Z'] = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(Z|[+-]\d\d:\d\d)?$/i.exec(text) ?? []
  if (minute !== undefined) return parseTimestamp(`${minute}:00${zone}`)
  return parseTimestamp(text) ?? parseTimestamp(`${text}Z`)
}

/** The name of a role, and what it may do. */
export const roleWords = {
  owner: ['Owner', 'Can do everything: also manage owners, and transfer or delete the app.'],
  admin: ['Admin', 'Can also manage production secrets, webhooks, redirect URIs, scopes, the name and members.'],
  developer: ['Developer', 'Can manage versions and development secrets, and send webhook events again.'],
} as const satisfies Record<MemberRole, readonly [name: string, about: string]>

/** The role that an invitation offers, in a sentence. */
export const offerWords = {
  owner: 'an owner',
  admin: 'an admin',
  developer: 'a developer',
  publisher: 'its new publisher',
} as const satisfies Record<OfferedRole, string>

/** The role that an event names, if it names one. */
export const roleInSentence = (role: unknown): string =>
  offeredRoles.flatMap((one) => (one === role ? [offerWords[one]] : [])).join() || 'a member'
