import { openText, sealNonceBytes, sealText } from '../domain/sealed-text.ts'
import { readCookie, setCookie } from '../http/session-cookie.ts'
import type { Visit } from './visit.ts'

// What would help somebody who has stolen a session cookie asks the person to prove again that it is them, unless they have proved it
// at the sign-in or in this session within the last ten minutes. A sign-in for which another service asked nobody proves nothing. The proof is a cookie that only this server can make, for this
// session. The tickets of forms do not help here: a thief can load the page of the form.

/** The forms that need it, by the pattern of their route. A test knows every form, so that a new one must decide. */
export const provedForms: ReadonlySet<string> = new Set([
  '/account/factors/passkeys/new',
  '/account/factors/passkeys/:id/remove',
  '/account/email',
  '/account/factors/totp',
  '/account/factors/totp/remove',
  '/account/factors/recovery-codes',
  '/console/:slug/credentials',
  '/console/:slug/credentials/rotate',
  '/console/:slug/delete',
  '/console/:slug/members',
  '/console/:slug/members/:id/role',
  '/console/:slug/redirect-uris',
  '/console/:slug/redirect-uris/remove',
  '/console/:slug/transfer',
  '/console/:slug/webhooks',
  '/console/:slug/webhooks/:id/edit',
  '/console/:slug/webhooks/:id/rotate',
  '/desk/apps/:slug/credentials',
  '/desk/apps/:slug/credentials/rotate',
  '/desk/apps/:slug/delete',
  '/desk/apps/:slug/settings/redirect-uris',
  '/desk/apps/:slug/settings/redirect-uris/remove',
  '/desk/apps/:slug/transfer',
  '/desk/service-keys/new',
  '/desk/service-keys/:id/rotate',
  '/desk/users/new',
  '/desk/users/:id/make-operator',
  '/desk/users/:id/reset-factors',
  '/desk/users/:id/reset-link',
  '/desk/users/:id/set-email',
])

/** Where a person proves it. */
export const provePath = '/account/prove'

const lifetimeMs = 600_000

const purposeOf = ({ door, sessionToken, userId }: Visit) => ({
  server: door.serverKey,
  browser: sessionToken,
  place: `proved ${userId}`,
})

/** The cookie that says so from now on. */
export const provedCookie = (visit: Visit): string => {
  const { clock, random } = visit.door.platform
  const sealed = sealText(purposeOf(visit), String(clock.now()), random.bytes(sealNonceBytes))
  return setCookie(visit.door, 'proved', sealed, lifetimeMs / 1000)
}

/** Whether the form of this request needs a proof that is missing. */
export const lacksProof = (visit: Visit): boolean => {
  const { door, call, session } = visit
  if (!provedForms.has(call.route)) return false
  const text = openText(purposeOf(visit), readCookie(door, call.request, 'proved') ?? '')
  const provedAt = Math.max(Number(text ?? 0), session.askedAt ?? 0)
  return door.platform.clock.now() - provedAt >= lifetimeMs
}
