import type { Queries } from '../../../db/database.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import { environmentOfClientId, uuidTimeOfKey } from '../../domain/identifier.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import { parseSecret, type SecretKind, secretKindOf } from '../../domain/secret.ts'
import { type AuditFacts, auditEvent, auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'
import { findAccessToken, findAppToken, findEmbeddedSession, findSession } from './find-token.ts'

/** What a refused bearer credential is. */
export type PresentedToken =
  /** It was issued once; whether it has ended or was presented wrongly, the caller who has it is genuine. */
  | { readonly kind: 'issued'; readonly trail: Trail }
  /** Its row is gone, if there ever was one: nobody can tell it from one that was made up. */
  | { readonly kind: 'too old' }
  | { readonly kind: 'never issued' }

type Trail = Pick<AuditFacts, 'appId' | 'environment' | 'target'>

/** Looks a refused bearer credential up once more. */
export const whatWasPresented = async (platform: Platform, text: string): Promise<PresentedToken> => {
  const trail = await trailOf(platform.database.queries, text)
  if (trail !== null) return { kind: 'issued', trail }
  return isTooOld(text, platform.clock.now()) ? { kind: 'too old' } : { kind: 'never issued' }
}

/** Kinds of secrets that may come as a bearer credential, and for how many seconds each lives at most. */
const longestLives: Partial<Record<SecretKind, number>> = {
  appToken: maximumLifetimes.appToken,
  userAccessToken: maximumLifetimes.accessToken,
  session: maximumLifetimes.session,
  embeddedSession: maximumLifetimes.embeddedSession,
}

/** Whether the text is well formed and its key, which has the time of its issue, is older than its kind can live. */
const isTooOld = (text: string, now: number): boolean => {
  const kind = secretKindOf(text)
  const seconds = kind === null ? undefined : longestLives[kind]
  const secret = kind === null || seconds === undefined ? null : parseSecret(kind, text)
  return secret !== null && seconds !== undefined && uuidTimeOfKey(secret.key) + seconds * 1000 < now
}

/**
 * Leaves the audit row of a refused bearer credential or session; one that was issued once and has ended is in the trail
 * of its app or user. One that is too old is only counted, because everybody can make such up without end. The refusal
 * stands whether or not the row could be written, so a store that takes no writes never turns a no into anything else.
 */
export const recordRefusal = async (
  platform: Platform,
  trace: Trace,
  presented: PresentedToken,
  refusedWith: ErrorCode,
): Promise<void> => {
  const { database, clock, refusals } = platform
  const facts = { actor: { kind: 'anonymous' }, action: 'bearer.check', refusedWith } as const
  const trail = presented.kind === 'issued' ? presented.trail : {}
  const event = auditEvent(auditStamp(platform, trace, clock.now()), { ...facts, ...trail })
  if (presented.kind === 'too old') return refusals.count(event)
  if (!refusals.admit(event)) return
  try {
    await database.transaction(async (q) => await q.audit.insert(event))
  } catch {
    // The caller is refused all the same; the engine has reported why it takes no writes.
  }
}

/** What a token belonged to, alive or not; null for one that is unknown. */
const trailOf = async (q: Queries, text: string): Promise<Trail | null> => {
  const app = await findAppToken(q, text)
  if (app !== null) return { appId: app.row.appId, environment: app.row.environment, target: app.row.credentialId }
  const access = await findAccessToken(q, text)
  if (access !== null) {
    const { appId, clientId, grantId } = access.row
    return { appId, environment: environmentOfClientId(clientId), target: grantId }
  }
  const embedded = await findEmbeddedSession(q, text)
  if (embedded !== null) {
    const { appId, environment, session } = embedded.row
    return { appId, environment, target: session.installId }
  }
  const session = await findSession(q, text)
  return session === null ? null : { target: session.row.user.id }
}
