import { browserLabel } from '../domain/device.ts'
import { signInWays } from '../domain/sign-in-rules.ts'
import { callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { forgetCookie, hasCookie, readCookie, setCookie } from '../http/cookies.ts'
import { browserOf, enteredCookies, finishHere } from '../http/sign-in-limit.ts'
import {
  allowsPasskeys,
  asked as passkeyOf,
  registrationOptions,
  requestOptions,
} from '../operations/factors/passkeys.ts'
import { factorsOf } from '../operations/factors/factors.ts'
import { type Entry, type PendingSignIn, pendingSignInSeconds } from '../operations/sessions/entry.ts'
import { signOut } from '../operations/sessions/own-sessions.ts'
import { causeToBeginAgain, enrolAndSignIn } from '../operations/sessions/sign-in.ts'
import { changedByVisitor, openPage, routes, type VisitorSubmission } from './change.tsx'
import { Form, SendButton } from './design/form.tsx'
import { Layout } from './design/shell.tsx'
import { type FormShape, formOf, secretText, textOf } from './form.ts'
import type { Values } from './kept-form.ts'
import { isReading, page, seeOther, type SentForm } from './page.ts'
import { assertionIn, challengeReader, newChallenge, PasskeyForm, registrationIn } from './passkey.tsx'
import { parametersOf } from './query.ts'
import { seal, type SealedFor, unseal } from './sealed.ts'
import { shownCookie } from './secret-page.tsx'
import { CodeField, openTotpKey, TotpFields, totpForm } from './totp-setup.tsx'
import { findVisit, safeReturnTo, type Visitor, visitorOf } from './visit.ts'
import { type TProperties, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

// A sign-in whose first proof was right waits in a cookie that only this server can read, and only together with the visit cookie
// of the same browser. The server stores nothing, and no page of the account opens with it.

const passkeyStep = '/sign-in/code/passkey'
const passkeyEnrolment = '/sign-in/factor/passkey'
const signInSteps = { code: '/sign-in/code', enrolment: '/sign-in/factor' } as const

/** Pages of the account that a sign-in may lead to: setting up a second factor, and new recovery codes. */
export const afterSignIn = { offer: '/account/factors/offer', newCodes: '/account/factors/recovery-codes/new' } as const

const pendingFor = ({ door, secret }: Visitor): SealedFor => ({ door, secret, place: 'pending-sign-in' })

const content = Type.Object({
  kind: Type.Literal('pending'),
  need: Type.Union([Type.Literal('code'), Type.Literal('enrolment')]),
  userId: Type.String(),
  email: Type.String(),
  way: Type.Union(signInWays.map((way) => Type.Literal(way))),
  proof: Type.String(),
  since: Type.Number(),
})

/** The sign-in that waits in this browser; null without one, and after ten minutes. */
export const pendingOf = (door: Door, request: Request, visitor: Visitor): PendingSignIn | null => {
  const whom = pendingFor(visitor)
  const kept = readCookie(door, request, 'pending', (sealed) => unseal(whom, sealed, pendingSignInSeconds))
  const found: unknown = kept === null ? null : JSON.parse(kept.content.toString())
  return Value.Check(content, found) ? found : null
}

/** The address of a step, which leads to the page that the person wanted. It can be longer than any cookie. */
const stepAddress = (path: string, returnTo: string): string =>
  `${path}?${new URLSearchParams({ return_to: returnTo }).toString()}`

/** The sign-in page, which says why the person is there again. */
const signInAgain = (returnTo: string, cause: SentForm): string => `${stepAddress('/sign-in', returnTo)}&form=${cause}`

/**
 * Goes on with a sign-in: to what is still missing, or into the session. Then the session that this browser had ends, and a person
 * who will need a second factor is asked to set one up before the page that they wanted.
 */
export const goOn = async (
  door: Door,
  request: Request,
  entry: Entry,
  returnTo: string,
  cookies: readonly string[] = [],
): Promise<Response> => {
  const visitor = visitorOf(door, request)
  if (entry.kind === 'pending') {
    const kept = setCookie(door, 'pending', seal(pendingFor(visitor), JSON.stringify(entry)), pendingSignInSeconds)
    return seeOther(stepAddress(signInSteps[entry.need], returnTo), [...visitor.cookies, kept, ...cookies])
  }
  const before = await findVisit(door, request)
  if (before !== null) await signOut(door.platform, before.call, before.session)
  const forgotten = hasCookie(door, request, 'pending') ? [forgetCookie(door, 'pending')] : []
  const next = entry.factorDueAt === null ? returnTo : stepAddress(afterSignIn.offer, returnTo)
  return seeOther(next, [...enteredCookies(door, callOf(request), entry), ...forgotten, ...cookies])
}

/** What comes after the first proof of a sign-in: the code of a second factor, or setting one up where it is required. */
export const secondStepRoutes = routes(() => [
  stepPage(signInSteps.code, code),
  stepForm(
    signInSteps.code,
    code,
    totpForm,
    async (step, { code: text }) => await finish(step, { kind: 'code', code: text }),
  ),
  stepForm(passkeyStep, code, passkeyForm, async (step, { passkey }) => {
    const answer = { response: assertionIn(passkey), readChallenge: challengeReader(challengeOf(step)) }
    return await finish(step, { kind: 'passkey', answer })
  }),
  stepPage(signInSteps.enrolment, enrolment),
  stepForm(
    signInSteps.enrolment,
    enrolment,
    totpForm,
    async (step, { key, code: text }) =>
      await enrol(step, { kind: 'totp', key: openTotpKey(whomOf(step), key), code: text }),
  ),
  stepForm(passkeyEnrolment, enrolment, passkeyForm, async (step, { passkey }) => {
    const response = registrationIn(passkey)
    // A passkey that is set up here has the name of the browser.
    const name = browserLabel(step.visitor.call.request.headers.get('user-agent')) ?? 'Passkey'
    return await enrol(step, {
      kind: 'passkey',
      response,
      name,
      readChallenge: challengeReader(newPasskeyOf(step)),
    })
  }),
])

/** A sign-in that waits in the browser of this request. */
type Step = {
  readonly visitor: Visitor
  readonly pending: PendingSignIn
  readonly returnTo: string
  /** What a form sent, or the address of a page says. */
  readonly sent: Values
}

/** What a sign-in can still need, and the page about it. */
type Need = { readonly need: PendingSignIn['need']; readonly show: (step: Step) => Promise<Response> }
const code: Need = { need: 'code', show: async (step) => await showCode(step) }
const enrolment: Need = { need: 'enrolment', show: async (step) => await showEnrolment(step) }

const stepPage = (path: string, { need, show }: Need) =>
  openPage(path, async (door, request) => await begin(visitorOf(door, request), need, parametersOf(request), show))

const stepForm = <T extends TProperties>(
  path: string,
  { need, show }: Need,
  form: FormShape<T>,
  act: (step: Step, fields: VisitorSubmission<FormShape<T>>['fields']) => Promise<Response>,
) =>
  changedByVisitor(path, {
    form,
    show: async (visitor, sent) => await begin(visitor, need, sent, show),
    act: async ({ visitor, fields, sent }) =>
      await begin(visitor, need, sent, async (step) => {
        try {
          return await act(step, fields)
        } catch (error) {
          const cause = causeToBeginAgain(error)
          if (cause === null) throw error
          return beginAgain(step, cause)
        }
      }),
  })

const beginAgain = ({ visitor: { door }, returnTo }: Step, cause: SentForm): Response =>
  seeOther(signInAgain(returnTo, cause), [forgetCookie(door, 'pending')])

/** Without such a sign-in the person begins again. */
const begin = async (
  visitor: Visitor,
  need: PendingSignIn['need'],
  sent: Values,
  go: (step: Step) => Promise<Response>,
): Promise<Response> => {
  const { door, call } = visitor
  const pending = pendingOf(door, call.request, visitor)
  const returnTo = safeReturnTo(textOf(sent['return_to']), door.platform.publicUrl)
  return pending?.need === need
    ? await go({ visitor, pending, returnTo, sent })
    : seeOther(isReading(call.request) ? stepAddress('/sign-in', returnTo) : signInAgain(returnTo, 'late'))
}

const passkeyForm = formOf({ passkey: secretText })
const challengeOf = ({ visitor: { door, secret }, pending }: Step) => ({ door, secret, place: pending.userId })
const newPasskeyOf = (step: Step) => ({ ...challengeOf(step), place: `new ${step.pending.userId}` })

const finish = async (
  { visitor: { door, call }, pending, returnTo }: Step,
  given: Parameters<typeof finishHere>[3],
): Promise<Response> => await goOn(door, call.request, await finishHere(door, call, pending, given), returnTo)

/** Signs in, and shows the new recovery codes before the page that the person wanted. */
const enrol = async (step: Step, factor: Parameters<typeof enrolAndSignIn>[3]): Promise<Response> => {
  const { door, call } = step.visitor
  const browser = browserOf(door, call.request)
  const { signedIn, codes } = await enrolAndSignIn(door.platform, call, step.pending, factor, browser)
  const shown = shownCookie({ door, sessionToken: signedIn.sessionToken }, afterSignIn.newCodes, codes.join('\n'))
  return await goOn(door, call.request, signedIn, stepAddress(afterSignIn.newCodes, step.returnTo), [shown])
}

const whomOf = ({ visitor: { door, secret }, pending }: Step) => ({ door, secret, userId: pending.userId })

const showCode = async (step: Step): Promise<Response> => {
  const { visitor, pending } = step
  const { door } = visitor
  const { totp, passkeys, recoveryCodes } = await factorsOf(door.platform, pending.userId)
  // They were reset since: no code would be right.
  if (totp === null && passkeys.length === 0) return beginAgain(step, 'changed')
  const hasPasskey = passkeys.length > 0 && allowsPasskeys(door.platform)
  const asked = hasPasskey
    ? await requestOptions(door.platform, passkeyOf.second(pending.userId), newChallenge(challengeOf(step)))
    : null
  return page(
    <Layout title={hasPasskey ? 'Confirm that it is you' : 'Enter your code'} visit={visitor} width="narrow">
      <p>
        You are signing in as <bdi>{pending.email}</bdi>.
      </p>
      {asked === null ? null : (
        <>
          <PasskeyForm
            action={passkeyStep}
            hidden={{ return_to: step.returnTo }}
            visit={visitor}
            kind="get"
            options={asked}
          >
            <SendButton>Use a passkey</SendButton>
          </PasskeyForm>
          <p data-without-passkey>Passkeys need JavaScript and a browser that supports them. Enter a code instead.</p>
        </>
      )}
      {totp === null ? null : <p>Enter the six digits that your authenticator app shows.</p>}
      {totp === null && recoveryCodes === 0 ? null : (
        <Form action={signInSteps.code} hidden={{ return_to: step.returnTo }} visit={visitor}>
          {totp === null ? (
            <CodeField label="Recovery code" hint="For when you do not have your passkey with you." />
          ) : (
            <CodeField
              label="Code"
              {...(recoveryCodes > 0 && { hint: 'Without your device, enter one of your recovery codes.' })}
            />
          )}
          <button type="submit" class={hasPasskey ? undefined : 'primary'}>
            Sign in
          </button>
        </Form>
      )}
      <p class="muted">
        If you have lost all of these, ask the operator of this server to reset your second factors.{' '}
        <a href={stepAddress('/sign-in', step.returnTo)}>Sign in as somebody else</a>
      </p>
    </Layout>,
    { cookies: visitor.cookies },
  )
}

const showEnrolment = async (step: Step): Promise<Response> => {
  const { visitor, pending, sent } = step
  const { platform } = visitor.door
  const { userId: id, email } = pending
  const asked = allowsPasskeys(platform)
    ? await registrationOptions(platform, { id, email, name: email }, newChallenge(newPasskeyOf(step)))
    : null
  return page(
    <Layout title="Set up a second factor" visit={visitor} width="narrow">
      <p>This account needs a second factor. Set one up to finish signing in.</p>
      <Form action={signInSteps.enrolment} hidden={{ return_to: step.returnTo }} visit={visitor}>
        <TotpFields whom={whomOf(step)} email={email} sent={sent} />
        <SendButton>Turn it on and sign in</SendButton>
      </Form>
      {asked === null ? null : (
        <PasskeyForm
          action={passkeyEnrolment}
          hidden={{ return_to: step.returnTo }}
          visit={visitor}
          kind="create"
          options={asked}
        >
          <p>Or let this device confirm that it is you, with your fingerprint, your face or its PIN.</p>
          <button type="submit">Set up a passkey and sign in</button>
        </PasskeyForm>
      )}
    </Layout>,
    { cookies: visitor.cookies },
  )
}
