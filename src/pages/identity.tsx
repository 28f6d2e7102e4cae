import { browserLabel } from '../domain/device.ts'
import { rowKey, uuidTimeOfKey } from '../domain/identifier.ts'
import { openText, sealNonceBytes, sealText } from '../domain/sealed-text.ts'
import { readSignInRequest, signInRequest } from '../domain/sign-in-request.ts'
import { callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { cookieValues, forgetCookie } from '../http/cookies.ts'
import { refuseIdentity, signInWithIdentity } from '../operations/sessions/identity.ts'
import { proveByProvider } from '../operations/sessions/prove-again.ts'
import { type LoginChecks, ProviderRefused, ProviderUnreachable } from '../runtime/identity-provider.ts'
import { notSignedIn, tooLongToReturn } from './handover.tsx'
import { answerForm } from './form.ts'
import { seeOther } from './page.ts'
import { provedCookie } from './proof.ts'
import { goOn } from './second-step.tsx'
import { findVisit, safeReturnTo, type Visit } from './visit.ts'
import { leaveFor, recallTab, rememberTab } from './way-out.tsx'

/** Where the identity provider sends people back to; it must be registered there. */
const callbackPath = '/sign-in/oidc/callback'
/** How long a person may take there. */
const checksSeconds = 600

const unreachable = (door: Door): Response =>
  notSignedIn(
    door,
    'Sign-in is not possible now',
    `${door.platform.signIn.providerName} does not answer. Try again in a moment. Operators can sign in with their password.`,
    [],
    503,
    '/sign-in?way=password',
  )

/** What a person who is signed in goes there to prove: that it is still them. It has the time, sealed for their session. */
const proofPurpose = ({ door, sessionToken }: Visit) => ({
  server: door.serverKey,
  browser: sessionToken,
  place: 'prove-at-provider',
})

/** Sends the browser of a signed-in person there, to be asked again. */
export const proveAtProvider = async (visit: Visit, returnTo: string): Promise<Response> => {
  const { clock, random } = visit.door.platform
  const proves = sealText(proofPurpose(visit), String(clock.now()), random.bytes(sealNonceBytes))
  return await leaveForProvider(visit.door, visit.call.request, returnTo, proves)
}

/** Sends the browser to the identity provider, with a cookie that only its answer fits. */
export const leaveForProvider = async (
  door: Door,
  request: Request,
  returnTo: string,
  proves = '',
): Promise<Response> => {
  if (door.identityProvider === null) return seeOther('/sign-in')
  const { clock, random, publicUrl } = door.platform
  // The ID token repeats the nonce, so that the time in it is that of the very answer of the provider.
  const nonce = signInRequest(door.serverKey, rowKey(random.uuid(clock.now())))
  try {
    const { url, checks } = await door.identityProvider.begin(publicUrl + callbackPath, nonce, proves !== '')
    const kept = JSON.stringify({ ...checks, proves, returnTo })
    const cookies = rememberTab(door, request, `oidc-${checks.state}`, kept, checksSeconds)
    const { providerName } = door.platform.signIn
    if (cookies === null) return tooLongToReturn(door, request, providerName)
    return leaveFor(door, request, url, {
      title: 'Signing in',
      says: <p>You go on to {providerName} to sign in.</p>,
      cookies,
    })
  } catch (error) {
    if (!(error instanceof ProviderUnreachable)) throw error
    door.log.warn('provider.unreachable', { cause: error.cause ?? error })
    return unreachable(door)
  }
}

type Kept = LoginChecks & { readonly returnTo: string; readonly proves: string }

const keptIn = (door: Door, request: Request, state: string): Kept | null => {
  try {
    const value: unknown = JSON.parse(recallTab(door, request, `oidc-${state}`)?.text ?? '')
    return isKept(value) ? value : null
  } catch {
    return null
  }
}

const isKept = (value: unknown): value is Kept =>
  typeof value === 'object' &&
  value !== null &&
  ['state', 'nonce', 'verifier', 'returnTo', 'proves'].every((name) => typeof Reflect.get(value, name) === 'string')

/** The browser comes back from the identity provider. */
export const comeBackFromProvider = async (door: Door, request: Request): Promise<Response> => {
  const call = callOf(request)
  const { search, searchParams } = new URL(request.url)
  const state = searchParams.get('state') ?? ''
  const kept = keptIn(door, request, state)
  const forgotten = kept === null ? [] : [forgetCookie(door, `oidc-${state}`)]
  const answer = async <T,>(work: Promise<T>, done: (outcome: T) => Promise<Response>): Promise<Response> =>
    await answerForm(work, {
      done,
      refused: (error) => {
        door.platform.observe.refused('session')
        return notSignedIn(door, 'Sign-in not completed', error.message, forgotten, 400)
      },
    })
  const refused = async (): Promise<Response> =>
    await answer(refuseIdentity(door.platform, call), async (never) => never)
  const { identityProvider, platform } = door
  const begun = kept === null ? null : readSignInRequest(door.serverKey, kept.nonce, platform.clock.now())
  if (kept === null || begun === null || identityProvider === null) return await refused()
  const address = new URL(platform.publicUrl + callbackPath)
  address.search = search
  try {
    const claims = await identityProvider.finish(address, kept)
    if (kept.proves !== '') {
      const visit = await findVisit(door, request)
      const since = visit === null ? null : openText(proofPurpose(visit), kept.proves)
      if (visit === null || since === null) return await refused()
      const proved = proveByProvider(platform, call, visit.session, { claims, since: Number(since) })
      const way = safeReturnTo(kept.returnTo, platform.publicUrl)
      return await answer(proved, async () => seeOther(way, [...forgotten, provedCookie(visit)]))
    }
    const agent = browserLabel(request.headers.get('user-agent'))
    return await answer(
      signInWithIdentity(platform, call, claims, platform.signIn, { agent, begunAt: uuidTimeOfKey(begun) }),
      async (entry) => await goOn(door, request, entry, safeReturnTo(kept.returnTo, platform.publicUrl), forgotten),
    )
  } catch (error) {
    if (error instanceof ProviderUnreachable) return unreachable(door)
    if (!(error instanceof ProviderRefused)) throw error
    door.log.warn('provider.refused', { requestId: call.requestId, cause: error.cause ?? error })
    return await refused()
  }
}

/** Whether the person of this browser signed in at the provider. */
export const cameFromProvider = (door: Door, request: Request): boolean =>
  door.identityProvider !== null && cookieValues(door, request, 'way').includes('oidc')

/** Where people sign out at the provider; null if it has no such address, or does not answer. */
export const providerSignOut = async (door: Door): Promise<string | null> =>
  (await door.identityProvider?.endSessionUrl(`${door.platform.publicUrl}/signed-out`).catch(() => null)) ?? null
