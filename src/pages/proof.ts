import { readCookie, setCookie } from '../http/cookies.ts'
import { meansOf } from '../operations/sessions/prove-again.ts'
import { SendTo } from './page.ts'
import { ofSession, seal, unseal } from './sealed.ts'
import type { Visit } from './visit.ts'

// Somebody may have stolen a session cookie. A form that would help them asks the person to prove again that it is them, unless they
// did so within the last ten minutes, at the sign-in or in this session. A sign-in at another service that asked for nothing is no
// proof. The ticket of a form is none either, because a thief can load the page of the form.
//
// The proof is kept in a cookie that only this server can make, for one session.

/**
 * What a form can do at most, and whether it needs the proof for that: a form asks if one of its fields can give a right, a secret, an
 * app or a version to somebody, or destroy copies. What takes away, repeats, reads or renames something, or affects only the person
 * who sends it, does not. Every form says where it is declared what it does.
 */
export const effects = {
  'gives a secret': 'asked',
  'gives a right': 'asked',
  'gives a way to sign in': 'asked',
  'weakens the sign-in': 'asked',
  'gives scopes to an app': 'asked',
  'takes scopes from an app': 'asked',
  'gives an app to somebody': 'asked',
  'gives users a version': 'asked',
  'sends codes elsewhere': 'asked',
  'sends events elsewhere': 'asked',
  'destroys an app': 'asked',
  'destroys backups': 'asked',
  // Somebody who has nothing to prove it with may do so right after a sign-in.
  'sets up a second factor': 'first_factor',
  'takes away': 'none',
  'repeats something': 'none',
  reads: 'none',
  renames: 'none',
  'makes a draft': 'none',
  'asks somebody to decide': 'none',
  'makes an empty app': 'none',
  'decides for oneself': 'none',
  'asks for the password itself': 'none',
  'is the proof': 'none',
} as const satisfies Readonly<Record<string, 'asked' | 'first_factor' | 'none'>>

export type Effect = keyof typeof effects

/** What the route of a form says of it. */
export const doing = (effect: Effect) => ({ detail: { hide: true, effect } })

/** Where a person proves it. */
export const provePath = '/account/prove'

/** The address of that page, which leads to a page of ours: the form, or to the other if the person cancels. */
export const proveAddress = (returnTo: string, back: string): string =>
  `${provePath}?${new URLSearchParams({ return_to: returnTo, back }).toString()}`

const lifetimeSeconds = 600

const proofFor = (visit: Visit) => ofSession(visit, `proved ${visit.userId}`)

/** The cookie that says so, with the time of the proof, which is now unless it was given elsewhere. */
export const provedCookie = (visit: Visit, at?: number): string =>
  setCookie(visit.door, 'proved', seal(proofFor(visit), '', at), lifetimeSeconds)

const isProved = (visit: Visit): boolean => {
  const { door, call, session } = visit
  const isRecent = door.platform.clock.now() - (session.askedAt ?? 0) < lifetimeSeconds * 1000
  const whom = proofFor(visit)
  return (
    isRecent || readCookie(door, call.request, 'proved', (sealed) => unseal(whom, sealed, lifetimeSeconds)) !== null
  )
}

/** Whether a form needs a proof that is missing. */
export const lacksProof = async (visit: Visit, effect: Effect): Promise<boolean> => {
  const proof = effects[effect]
  if (proof === 'none' || isProved(visit)) return false
  if (proof === 'asked') return true
  const { session, door } = visit
  const isYoung = door.platform.clock.now() - session.createdAt < lifetimeSeconds * 1000
  return !isYoung || (await meansOf(door.platform, session)).hasSome
}

/**
 * For a page that is one form: asks for the proof before anybody types into it.
 * @throws SendTo the proof
 */
export const askFirst = async (visit: Visit, effect: Effect): Promise<void> => {
  if (await lacksProof(visit, effect)) throw new SendTo({ to: 'proof' })
}

/** For a form on a page with more than the form: where the person proves it first; null if they have. */
export const proveFirst = (visit: Visit): string | null => {
  if (isProved(visit)) return null
  const { pathname, search } = new URL(visit.call.request.url)
  return proveAddress(pathname + search, pathname + search)
}
