import { containsIpv4, type IpNetwork, isLoopbackHost } from '../domain/ip-address.ts'
import type { MailSettings } from '../domain/mail.ts'
import type { EnvironmentVariables } from './setting.ts'

type Warned = {
  readonly host: string
  readonly publicUrl: string | null
  readonly mail: MailSettings | null
  readonly trustedProxies: readonly IpNetwork[]
}

/** Sentences about settings that are allowed but probably a mistake. */
export const warningsAbout = ({ host, publicUrl, trustedProxies, mail }: Warned): readonly string[] => {
  const url = publicUrl === null ? null : new URL(publicUrl)
  const isPlain = url?.protocol === 'http:' && !isLoopbackHost(url.hostname)
  const isProxied = url?.protocol === 'https:' // the server itself speaks plain HTTP
  const warnings: readonly (readonly [applies: boolean, sentence: string])[] = [
    [isPlain, 'PUBLIC_URL is plain HTTP on a host that is not this machine: tokens travel unencrypted.'],
    [
      isProxied && trustedProxies.length === 0,
      'PUBLIC_URL is https and TRUSTED_PROXIES is not set: all clients share one rate limit. Set it to the address that the proxy connects from.',
    ],
    [
      trustedProxies.some(containsIpv4),
      'TRUSTED_PROXIES trusts every address: clients can choose the address that limits and audit log see. Name the addresses of the proxies.',
    ],
    [
      url === null && mail !== null,
      'SMTP_URL is set and PUBLIC_URL is not: links in mails name localhost. Set PUBLIC_URL to the origin that people open.',
    ],
    [
      url === null && !isLoopbackHost(host),
      'HOST admits other machines and PUBLIC_URL is not set: links and the issuer name localhost. Set PUBLIC_URL to the origin that clients see.',
    ],
  ]
  return warnings.filter(([applies]) => applies).map(([, sentence]) => sentence)
}

/** Prefixes that no other program is likely to use. */
const ownPrefixes = [
  'APP_CREATION',
  'AUDIT_RETENTION',
  'BACKUP_',
  'INSTALL_APPROVAL',
  'LIFETIME_',
  'LOG_REQUEST',
  'LONGEST_WAIT',
  'METRICS_LISTEN',
  'QUOTA_',
  'RATE_LIMIT',
  'TRUSTED_PROX',
  'WEBHOOK_ALLOWED',
]

/** Shorter names are one letter away from too many others. */
const shortestName = 6

/** Beyond this distance no setting is suggested. */
const farthestGuess = 3

/** A warning for each variable that looks like a misspelt setting. It may belong to another program, so it is no fault. */
export const misspeltSettings = (env: EnvironmentVariables, names: readonly string[]): readonly string[] => {
  const settings = names.map((setting) => ({ setting, singular: singular(setting) }))
  return Object.keys(env)
    .filter((name) => name.length >= shortestName && !names.includes(name))
    .flatMap((name) => {
      const isOwn = ownPrefixes.some((prefix) => name.startsWith(prefix))
      const farthest = isOwn ? farthestGuess : 1
      const word = singular(name.toUpperCase())
      const { setting, distance } = settings
        .map((known) => ({ setting: known.setting, distance: distanceBetween(word, known.singular, farthest) }))
        .reduce((one, other) => (other.distance < one.distance ? other : one))
      const isNear = distance <= 1 && setting.length >= shortestName
      if (!isNear && !isOwn) return []
      const guess = distance <= farthestGuess ? `Did you mean ${setting}?` : 'Is it misspelt?'
      return [`${name} is not a setting and has no effect. ${guess}`]
    })
}

const singular = (name: string): string => name.replace(/IES$/, 'Y').replace(/S$/, '')

/** Letters to insert, remove, replace or swap with their neighbour (optimal string alignment); infinite if they are more than `farthest`. */
const distanceBetween = (one: string, other: string, farthest: number): number => {
  if (Math.abs(one.length - other.length) > farthest) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = at(last, column - 1) + (one[row - 1] === other[column - 1] ? 0 : 1)
      const isExchange = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const exchanged = isExchange ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced, exchanged))
    }
    if (Math.min(...current) > farthest) return Number.POSITIVE_INFINITY // no later row has less: a start with many variables waits for this
    beforeLast = last
    last = current
  }
  return last[other.length] ?? 0
}

const at = (line: readonly number[], index: number): number => line[index] ?? Number.POSITIVE_INFINITY
