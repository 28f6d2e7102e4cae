import { browserLabel } from '../domain/device.ts'
import { rowKey, uuidTimeOfKey } from '../domain/identifier.ts'
import { readSignInRequest, signInRequest } from '../domain/sign-in-rules.ts'
import { isOfProvider, isOutage, signInFaultIn, type SignInFault, sentenceOf } from '../domain/sign-in-cause.ts'
import { callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { cookieValues, forgetCookie } from '../http/cookies.ts'
import { refuseIdentity, signInWithIdentity } from '../operations/sessions/identity.ts'
import { proveByProvider } from '../operations/sessions/prove-again.ts'
import { type LoginChecks, ProviderFault } from '../runtime/identity-provider.ts'
import { kindOf, notSignedIn, tooLongToReturn } from './handover.tsx'
import { answerForm } from './form.ts'
import { seeOther } from './page.ts'
import { ofSession, seal, unseal } from './sealed.ts'
import { provedCookie, provePath } from './proof.ts'
import { goOn } from './second-step.tsx'
import { findVisit, safeReturnTo, type Visit } from './visit.ts'
import { leaveFor, recallTab, rememberTab } from './way-out.tsx'

/** Where the identity provider sends people back to; it must be registered there. */
const callbackPath = '/sign-in/oidc/callback'
/** How long a person may take there. */
const checksSeconds = 600

/** Writes what the provider answered into the log. */
const logFault = (door: Door, request: Request, fault: SignInFault): void => {
  const said = fault instanceof ProviderFault ? { ...fault.words, cause: fault.cause } : {}
  const fields = { requestId: callOf(request).requestId, kind: fault.kind, ...said }
  if (isOfProvider(fault.kind)) door.log.warn('provider.unreachable', fields)
  else door.log.warn('provider.refused', fields)
}

/** Says why nobody was signed in. While nobody can be, the page leads operators to their password; otherwise it leads to another try. */
const notCompleted = (
  door: Door,
  fault: SignInFault | null,
  sentence: string,
  again: string,
  cookies: readonly string[],
): Response =>
  fault !== null && isOutage(fault.kind)
    ? notSignedIn(door, 'Sign-in is not possible now', sentence, cookies, 503, '/sign-in?way=password')
    : notSignedIn(door, 'Sign-in not completed', sentence, cookies, 400, again, 'Try again')

/** What a person who is signed in goes there to prove: that it is still them. It has the time, sealed for their session. */
const proofFor = (visit: Visit) => ofSession(visit, 'prove-at-provider')

/** Sends the browser of a signed-in person there, to be asked again. */
export const proveAtProvider = async (visit: Visit, returnTo: string): Promise<Response> =>
  await leaveForProvider(visit.door, visit.call.request, returnTo, seal(proofFor(visit)))

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
    const again = proves === '' ? null : door.platform.signIn.providerProof
    const { url, checks } = await door.identityProvider.begin(publicUrl + callbackPath, nonce, again)
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
    if (!(error instanceof ProviderFault)) throw error
    logFault(door, request, error)
    callOf(request).notes.errorCode = error.kind
    const sentence = sentenceOf(error, door.platform.signIn)
    return notSignedIn(door, 'Sign-in is not possible now', sentence, [], 503, '/sign-in?way=password')
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
  const { identityProvider, platform } = door
  const isProof = kept !== null && kept.proves !== ''
  const visit = isProof ? await findVisit(door, request) : null
  const returnTo = safeReturnTo(kept?.returnTo ?? null, platform.publicUrl)
  const forgotten = kept === null ? [] : [forgetCookie(door, `oidc-${state}`)]
  const answer = async <T,>(
    work: Promise<T>,
    done: (outcome: T) => Promise<Response>,
    thrown: SignInFault | null = null,
  ): Promise<Response> =>
    await answerForm(work, {
      done,
      refused: (error) => {
        platform.observe.refused('sign_in')
        const fault = thrown ?? signInFaultIn(error.facts.details)
        if (fault !== null) logFault(door, request, fault)
        call.notes.errorCode = kindOf(error)
        const place = kept === null ? '/sign-in' : isProof ? provePath : '/sign-in/oidc'
        const again = `${place}?${new URLSearchParams({ return_to: returnTo }).toString()}`
        return notCompleted(door, fault, error.message, again, forgotten)
      },
    })
  const refused = async (fault: SignInFault): Promise<Response> =>
    await answer(refuseIdentity(platform, call, fault, visit?.session ?? null), async (never) => never, fault)
  const begun = kept === null ? null : readSignInRequest(door.serverKey, kept.nonce, platform.clock.now())
  if (kept === null || begun === null || identityProvider === null) return await refused(notBegunHere)
  const address = new URL(platform.publicUrl + callbackPath)
  address.search = search
  try {
    const claims = await identityProvider.finish(address, kept, isProof ? platform.signIn.providerProof : null)
    if (claims.missed !== null) logFault(door, request, claims.missed)
    if (isProof) {
      const begun = visit === null ? null : unseal(proofFor(visit), kept.proves, checksSeconds)
      if (visit === null || begun === null) return await refused(notBegunHere)
      const proved = proveByProvider(platform, call, visit.session, { claims, since: begun.at })
      return await answer(proved, async () => seeOther(returnTo, [...forgotten, provedCookie(visit)]))
    }
    const agent = browserLabel(request.headers.get('user-agent'))
    return await answer(
      signInWithIdentity(platform, call, claims, platform.signIn, { agent, begunAt: uuidTimeOfKey(begun) }),
      async (entry) => await goOn(door, request, entry, returnTo, forgotten),
    )
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error
    return await refused(error)
  }
}

const notBegunHere: SignInFault = { kind: 'not_begun_here', code: null }

/** Whether the person of this browser signed in at the provider. */
export const cameFromProvider = (door: Door, request: Request): boolean =>
  door.identityProvider !== null && cookieValues(door, request, 'way').includes('oidc')

/** Where people sign out at the provider; null if it has no such address, or does not answer. */
export const providerSignOut = async (door: Door): Promise<string | null> =>
  (await door.identityProvider?.endSessionUrl(`${door.platform.publicUrl}/signed-out`).catch(() => null)) ?? null
