import type { Queries } from '../../db/database.ts'
import { environmentOfClientId, recordIdOfKey, uuidTimeOfKey } from '../domain/identifier.ts'
import { maximumLifetimes } from '../domain/lifetimes.ts'
import type { SecretKind } from '../domain/secret.ts'
import { timeOfKey } from '../domain/time-key.ts'
import { anonymous, auditEvent, type AuditFacts, auditStamp } from './audit/event.ts'
import {
  findAccessToken,
  findAppToken,
  findEmbeddedSession,
  findServiceKey,
  findSession,
  parseAnySecret,
  type PresentedSecret,
} from './find-token.ts'
import type { Platform, Trace } from './platform.ts'
import { whyRefused } from './authenticate.ts'
import { guarded } from './decide.ts'

/** What the audit event of a refused token says about its owner. */
export type Trail = Pick<AuditFacts, 'appId' | 'environment' | 'target' | 'detail'>

export const refusedBearer = { actor: anonymous, action: 'bearer.check' } as const

/** What a refused bearer token turned out to be. */
type RefusedToken =
  /** Its row exists: it has ended, or a genuine caller used it in the wrong place. */
  | { readonly kind: 'issued'; readonly trail: Trail }
  /** Its row has been purged, if it ever existed. It cannot be told from a forged one. */
  | { readonly kind: 'too old' }
  | { readonly kind: 'never issued' }

/** Looks a refused bearer token up once more. */
export const findRefused = async (
  platform: Platform,
  { address }: Pick<Trace, 'address'>,
  text: string,
): Promise<RefusedToken> => {
  const secret = parseAnySecret(text)
  if (secret === null) return { kind: 'never issued' }
  const now = platform.clock.now()
  const trail = await trailOf(platform.database.queries, secret, address, now)
  if (trail !== null) return { kind: 'issued', trail }
  return isTooOld(secret, now) ? { kind: 'too old' } : { kind: 'never issued' }
}

/** Whose token it is, live or not; null for an unknown one. */
const trailOf = async (q: Queries, secret: PresentedSecret, address: string, now: number): Promise<Trail | null> => {
  switch (secret.kind) {
    case 'appToken': {
      const row = await findAppToken(q, secret)
      return row && { appId: row.appId, environment: row.environment, target: row.credentialId }
    }
    case 'userAccessToken': {
      const row = await findAccessToken(q, secret)
      return row && { appId: row.appId, environment: environmentOfClientId(row.clientId), target: row.grantId }
    }
    case 'embeddedSession': {
      const row = await findEmbeddedSession(q, secret)
      return row && { appId: row.appId, environment: row.environment, target: row.session.installId }
    }
    case 'session': {
      const row = await findSession(q, secret)
      return row && { target: row.user.id }
    }
    case 'serviceKey': {
      const row = await findServiceKey(q, { key: recordIdOfKey('svk_', secret.key), hash: secret.hash })
      return row && { target: row.id, detail: { because: whyRefused(row, address, now) ?? 'wrong place' } }
    }
    default:
      return null
  }
}

/** The longest lifetime of each kind of bearer token, in seconds. */
const longestLifetimes: Partial<Record<SecretKind, number>> = {
  appToken: maximumLifetimes.appToken,
  userAccessToken: maximumLifetimes.accessToken,
  session: maximumLifetimes.session,
  embeddedSession: maximumLifetimes.embeddedSession,
}

const issuedAt = (key: PresentedSecret['key']): number =>
  typeof key === 'number' ? timeOfKey(key) : uuidTimeOfKey(key)

/** Whether its key, which contains the time of issue, is older than the longest lifetime of its kind. */
const isTooOld = ({ kind, key }: PresentedSecret, now: number): boolean => {
  const seconds = longestLifetimes[kind]
  return seconds !== undefined && issuedAt(key) + seconds * 1000 < now
}

/**
 * Writes the audit event of a refused bearer token, in the trail of its app or user if it was ever issued. Tokens that are
 * too old are only counted, because anyone can make up any number of them. The refusal stands even if the event cannot
 * be written, so a store that takes no writes never turns a refusal into another answer.
 */
export const recordRefusal = async (platform: Platform, trace: Trace, token: RefusedToken, refusedWith: string) => {
  const { clock, refusals } = platform
  const trail = token.kind === 'issued' ? token.trail : {}
  const event = auditEvent(auditStamp(platform, trace, clock.now()), { ...refusedBearer, ...trail, refusedWith })
  if (token.kind === 'too old') return refusals.count(event)
  if (!refusals.admit(event)) return
  try {
    await platform.database.transaction((q) => q.audit.insert(event), guarded)
  } catch {
    // The engine has reported why it takes no writes.
  }
}
