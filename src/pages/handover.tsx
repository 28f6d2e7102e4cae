import { browserLabel } from '../domain/device.ts'
import { visibleProse } from '../domain/text.ts'
import { rowKey } from '../domain/identifier.ts'
import type { PlatformError } from '../domain/errors.ts'
import { builderPage, readSignInRequest, signInRequest, signInRequestSeconds } from '../domain/sign-in-rules.ts'
import { callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { completeSignIn, notCompleted } from '../operations/sessions/handover.ts'
import { proveByBuilder } from '../operations/sessions/prove-again.ts'
import { wordsPage } from './design/shell.tsx'
import { answerForm } from './form.ts'
import { seeOther } from './page.ts'
import { proveAddress, provedCookie } from './proof.ts'
import { ofSession, seal, unseal } from './sealed.ts'
import { goOn } from './second-step.tsx'
import { findVisit, safeReturnTo, type Visit } from './visit.ts'
import { leaveFor, recallTab, rememberTab } from './way-out.tsx'
import type { VNode } from 'preact'

/** What a person who is signed in goes there to prove: that it is still them. */
const proofFor = (visit: Visit) => ofSession(visit, 'prove-at-builder')

/** Sends the browser of a signed-in person there, to be asked again. */
export const proveAtBuilder = (visit: Visit, returnTo: string): Response => {
  const { door, call } = visit
  return leaveForBuilder(door, call.request, { returnTo, proves: seal(proofFor(visit)) }) ?? seeOther('/sign-in')
}

/**
 * Sends the browser to the builder to sign in. A cookie named after the request remembers where to go then, so that only this
 * browser can complete it. Null if the builder does not sign people in.
 */
export const leaveForBuilder = (
  door: Door,
  request: Request,
  { returnTo, proves = '', notice = null, waits = false }: Leaving,
): Response | null => {
  const { clock, random, signIn } = door.platform
  const builder = builderPage(signIn)
  if (builder === null) return null
  const key = rowKey(random.uuid(clock.now()))
  const target = new URL(builder)
  target.searchParams.set('request', signInRequest(door.serverKey, key))
  if (proves !== '') target.searchParams.set('prompt', 'login') // as in OpenID Connect Core section 3.1.2.1
  const cookies = rememberTab(door, request, `handover-${key}`, `${proves} ${returnTo}`, signInRequestSeconds)
  if (cookies === null) return tooLongToReturn(door, request, target.host)
  const says = notice ?? <p>You go on to {target.host} to sign in.</p>
  return leaveFor(door, request, target.href, { title: 'Signing in', says, cookies, waits })
}

type Leaving = {
  readonly returnTo: string
  readonly proves?: string
  /** What happened to the form that brought the person here. */
  readonly notice?: VNode | null
  /** Whether they have to read that first. */
  readonly waits?: boolean
}

/** No cookie can remember where the person wanted to go. Signed in, they need none. */
export const tooLongToReturn = (door: Door, request: Request, where: string): Response => {
  callOf(request).notes.errorCode = 'return_to_too_long'
  const sentence = `The address that you opened is too long to be remembered while you sign in at ${where}. Sign in first, then open it again.`
  return notSignedIn(door, 'Sign in first', sentence, [], 400)
}

/** The browser comes back from the builder. */
export const comeBack = async (door: Door, request: Request): Promise<Response> => {
  if (builderPage(door.platform.signIn) === null) return seeOther('/sign-in')
  const call = callOf(request)
  const parameters = new URL(request.url).searchParams
  const key = readSignInRequest(door.serverKey, parameters.get('request') ?? '', door.platform.clock.now())
  const kept = key === null ? null : recallTab(door, request, `handover-${key}`)
  const [proves = '', way = ''] = kept?.text.split(' ') ?? []
  const returnTo = safeReturnTo(way, door.platform.publicUrl)
  const forgotten = kept?.forgotten ?? []
  const came = { key: kept === null ? null : key, verifier: parameters.get('verifier') ?? '' }
  const refused = (sentence: string, code: string, again?: string) => {
    door.platform.observe.refused('sign_in')
    call.notes.errorCode = code
    return notSignedIn(door, 'Sign-in not completed', sentence, [], 400, again)
  }
  if (proves !== '') {
    const visit = await findVisit(door, request)
    if (visit === null || unseal(proofFor(visit), proves, signInRequestSeconds) === null)
      return refused(notCompleted.not_begun_here, 'not_begun_here')
    return await answerForm(proveByBuilder(door.platform, call, visit.session, came), {
      done: (askedAt) => seeOther(returnTo, [...forgotten, provedCookie(visit, askedAt)]),
      refused: (error) => refused(error.message, kindOf(error), proveAddress(returnTo, returnTo)),
    })
  }
  const agent = browserLabel(request.headers.get('user-agent'))
  return await answerForm(completeSignIn(door.platform, call, { ...came, agent }), {
    done: async (completed) => {
      if (completed.kind === 'rejected') {
        call.notes.errorCode = 'rejected'
        return notSignedIn(door, 'You were not signed in', visibleProse(completed.reason), forgotten)
      }
      return await goOn(door, request, completed, returnTo, forgotten)
    },
    refused: (error) => refused(error.message, kindOf(error)),
  })
}

/** What the log calls a sign-in or proof that was refused: its cause where it has one, else its code. */
export const kindOf = ({ code, facts }: PlatformError): string => String(facts.details?.['kind'] ?? code)

/** After a sign-out, or when a sign-in failed: nobody is sent back to the builder without asking. */
export const notSignedIn = (
  { platform }: Door,
  title: string,
  sentence: string,
  cookies: readonly string[] = [],
  status = 200,
  again = '/sign-in',
  words = 'Sign in',
): Response => wordsPage(platform, { title, says: sentence, to: [again, words], options: { cookies, status } })
