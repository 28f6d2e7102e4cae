import { browserLabel } from '../domain/device.ts'
import { PlatformError } from '../domain/errors.ts'
import { openText, sealNonceBytes, sealText } from '../domain/sealed-text.ts'
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
import { enrolAndSignIn } from '../operations/sessions/sign-in.ts'
import { Problem } from './design/field.tsx'
import { Form } from './design/form.tsx'
import { Layout } from './design/shell.tsx'
import { answerForm, fieldsOf, formOf, readValues, secretText, textOf, ticketKey } from './form.ts'
import type { Values } from './kept-form.ts'
import { isReading, page, seeOther } from './page.ts'
import { assertionIn, challengeReader, newChallenge, PasskeyForm, registrationIn } from './passkey.tsx'
import { shownCookie } from './shown-once.ts'
import { CodeField, newTotpKey, openTotpKey, TotpFields, totpForm } from './totp-setup.tsx'
import { findVisit, safeReturnTo, type Visitor, visitorOf, wayBackOf } from './visit.ts'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Elysia } from 'elysia'

// A sign-in whose first proof was right waits in a cookie that only this server can read, and only together with the visit cookie
// of the same browser. The server stores nothing, and no page of the account opens with it.

const passkeyStep = '/sign-in/code/passkey'
const passkeyEnrolment = '/sign-in/factor/passkey'
const signInSteps = { code: '/sign-in/code', enrolment: '/sign-in/factor' } as const

/** Pages of the account that a sign-in may lead to: setting up a second factor, and new recovery codes. */
export const afterSignIn = { offer: '/account/factors/offer', newCodes: '/account/factors/recovery-codes/new' } as const

const purposeOf = ({ serverKey }: Pick<Door, 'serverKey'>, { secret }: Visitor) => ({
  server: serverKey,
  browser: secret,
  place: 'pending-sign-in',
})

const pendingCookie = (door: Door, visitor: Visitor, pending: PendingSignIn): string => {
  const nonce = door.platform.random.bytes(sealNonceBytes)
  const sealed = sealText(purposeOf(door, visitor), JSON.stringify(pending), nonce)
  return setCookie(door, 'pending', sealed, pendingSignInSeconds)
}

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
  const text = readCookie(door, request, 'pending', (sealed) => openText(purposeOf(door, visitor), sealed))
  const found: unknown = text === null ? null : JSON.parse(text)
  if (!Value.Check(content, found)) return null
  return door.platform.clock.now() - found.since < pendingSignInSeconds * 1000 ? found : null
}

/** The address of a step, which leads to the page that the person wanted. It can be longer than any cookie. */
const stepAddress = (path: string, returnTo: string): string =>
  `${path}?${new URLSearchParams({ return_to: returnTo }).toString()}`

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
    const kept = pendingCookie(door, visitor, entry)
    return seeOther(stepAddress(signInSteps[entry.need], returnTo), [...visitor.cookies, kept, ...cookies])
  }
  const before = await findVisit(door, request)
  if (before !== null) await signOut(door.platform, before.call, before.session)
  const forgotten = hasCookie(door, request, 'pending') ? [forgetCookie(door, 'pending')] : []
  const next = entry.factorDueAt === null ? returnTo : stepAddress(afterSignIn.offer, returnTo)
  return seeOther(next, [...enteredCookies(door, callOf(request), entry), ...forgotten, ...cookies])
}

/** What comes after the first proof of a sign-in: the code of a second factor, or setting one up where it is required. */
export const secondStepRoutes = (door: Door) =>
  new Elysia()
    .get(signInSteps.code, ({ request }) => begin(door, request, 'code', async (step) => await showCode(step, null)))
    .post(signInSteps.code, async ({ request }) => await sendCode(door, request))
    .post(passkeyStep, async ({ request }) => await sendPasskey(door, request))
    .get(signInSteps.enrolment, ({ request }) =>
      begin(door, request, 'enrolment', async (step) => await showEnrolment(step, newTotpKey(step), null)),
    )
    .post(signInSteps.enrolment, async ({ request }) => await enrol(door, request))
    .post(passkeyEnrolment, async ({ request }) => await enrolPasskey(door, request))

/** A sign-in that waits in the browser of this request. */
type Step = {
  readonly door: Door
  readonly request: Request
  readonly visitor: Visitor
  readonly pending: PendingSignIn
  readonly returnTo: string
  /** What a form sent; nothing for a page. */
  readonly values: Values
}

/** Without such a sign-in the person begins again. */
const begin = async (
  door: Door,
  request: Request,
  need: PendingSignIn['need'],
  go: (step: Step) => Promise<Response>,
): Promise<Response> => {
  const visitor = visitorOf(door, request)
  const pending = pendingOf(door, request, visitor)
  const values = isReading(request) ? {} : await readValues(callOf(request), totpForm)
  const returnTo = isReading(request)
    ? wayBackOf(door, request)
    : safeReturnTo(textOf(values['return_to']), door.platform.publicUrl)
  return pending?.need === need
    ? await go({ door, request, visitor, pending, returnTo, values })
    : seeOther(stepAddress('/sign-in', returnTo))
}

const sendCode = async (door: Door, request: Request): Promise<Response> =>
  await begin(door, request, 'code', async (step) => {
    const values = received(step)
    if (values instanceof PlatformError) return await showCode(step, values)
    return await answerForm(finishHere(door, callOf(request), step.pending, { kind: 'code', code: values.code }), {
      done: async (signedIn) => await goOn(door, request, signedIn, step.returnTo),
      refused: async (error) => await showCode(step, error),
    })
  })

const passkeyForm = formOf({ passkey: secretText })
const challengeOf = ({ door, visitor, pending }: Step) => ({ door, secret: visitor.secret, place: pending.userId })

const sendPasskey = async (door: Door, request: Request): Promise<Response> =>
  await begin(door, request, 'code', async (step) => {
    const call = callOf(request)
    const { values } = step
    const finished = async () => {
      const ticket = ticketKey(door, call, step.visitor.tickets, passkeyForm, values)
      if (ticket instanceof PlatformError) throw ticket
      const response = assertionIn(fieldsOf(passkeyForm, values).passkey)
      const answer = { response, readChallenge: challengeReader(challengeOf(step)) }
      return await finishHere(door, call, step.pending, { kind: 'passkey', answer })
    }
    return await answerForm(finished(), {
      done: async (signedIn) => await goOn(door, request, signedIn, step.returnTo),
      refused: async (error) => await showCode(step, error),
    })
  })

const enrol = async (door: Door, request: Request): Promise<Response> =>
  await begin(door, request, 'enrolment', async (step) => {
    const values = received(step)
    if (values instanceof PlatformError) return await showEnrolment(step, newTotpKey(step), values)
    const { code, key: sealed } = values
    let key: Uint8Array | null = null
    const enrolled = async () => {
      key = openTotpKey(whomOf(step), sealed)
      const factor = { kind: 'totp', key, code } as const
      return await enrolAndSignIn(door.platform, callOf(request), step.pending, factor, browserOf(door, request))
    }
    return await answerForm(enrolled(), {
      done: async (entered) => await showCodes(step, entered),
      refused: async (error) => await showEnrolment(step, key ?? newTotpKey(step), error),
    })
  })

/** A passkey that is set up here has the name of the browser. */
const enrolPasskey = async (door: Door, request: Request): Promise<Response> =>
  await begin(door, request, 'enrolment', async (step) => {
    const call = callOf(request)
    const { values } = step
    const enrolled = async () => {
      const ticket = ticketKey(door, call, step.visitor.tickets, passkeyForm, values)
      if (ticket instanceof PlatformError) throw ticket
      const response = registrationIn(fieldsOf(passkeyForm, values).passkey)
      const name = browserLabel(request.headers.get('user-agent')) ?? 'Passkey'
      const factor = { kind: 'passkey', response, name, readChallenge: challengeReader(newPasskeyOf(step)) } as const
      return await enrolAndSignIn(door.platform, call, step.pending, factor, browserOf(door, request))
    }
    return await answerForm(enrolled(), {
      done: async (entered) => await showCodes(step, entered),
      refused: async (error) => await showEnrolment(step, newTotpKey(step), error),
    })
  })

const newPasskeyOf = (step: Step) => ({ ...challengeOf(step), place: `new ${step.pending.userId}` })

/** Signs in, and shows the new recovery codes before the page that the person wanted. */
const showCodes = async (
  { door, request, returnTo }: Step,
  { signedIn, codes }: Awaited<ReturnType<typeof enrolAndSignIn>>,
): Promise<Response> => {
  const path = stepAddress(afterSignIn.newCodes, returnTo)
  const { sessionToken } = signedIn
  const shown = shownCookie({ door, sessionToken }, afterSignIn.newCodes, codes.join('\n'))
  return await goOn(door, request, signedIn, path, [shown])
}

/** The fields of the form, or why it is refused. */
const received = ({ door, request, visitor, values }: Step) => {
  const ticket = ticketKey(door, { request }, visitor.tickets, totpForm, values)
  return ticket instanceof PlatformError ? ticket : fieldsOf(totpForm, values)
}

const whomOf = ({ door, visitor, pending }: Step) => ({ door, secret: visitor.secret, userId: pending.userId })

const frameOf = ({ door, visitor }: Step, error: PlatformError | null) => ({
  refusal: error,
  cookies: visitor.cookies,
  visit: { platformName: door.platform.platformName },
})

const showCode = async (step: Step, error: PlatformError | null): Promise<Response> => {
  const { visit, ...options } = frameOf(step, error)
  const { door, pending } = step
  const { totp, passkeys } = await factorsOf(door.platform, pending.userId)
  const hasPasskey = passkeys.length > 0 && allowsPasskeys(door.platform)
  const asked = hasPasskey
    ? await requestOptions(door.platform, passkeyOf.second(pending.userId), newChallenge(challengeOf(step)))
    : null
  return page(
    <Layout title={hasPasskey ? 'Confirm that it is you' : 'Enter your code'} visit={visit} width="narrow">
      <Problem error={error} />
      {asked === null ? null : (
        <>
          <PasskeyForm
            action={passkeyStep}
            hidden={{ return_to: step.returnTo }}
            visit={step.visitor}
            kind="get"
            options={asked}
          >
            <button type="submit" class="primary">
              Use a passkey
            </button>
          </PasskeyForm>
          <p data-without-passkey>Passkeys need JavaScript and a browser that supports them. Enter a code instead.</p>
        </>
      )}
      {totp === null ? null : <p>Enter the six digits that your authenticator app shows.</p>}
      <Form action={signInSteps.code} hidden={{ return_to: step.returnTo }} visit={step.visitor}>
        {totp === null ? (
          <CodeField label="Recovery code" hint="For when you do not have your passkey with you." error={error} />
        ) : (
          <CodeField label="Code" hint="Without your device, enter one of your recovery codes." error={error} />
        )}
        <button type="submit" class={hasPasskey ? undefined : 'primary'}>
          Sign in
        </button>
      </Form>
      <p class="muted">
        If you have lost all of these, ask the operator of this server to reset your second factors.{' '}
        <a href={stepAddress('/sign-in', step.returnTo)}>Sign in as somebody else</a>
      </p>
    </Layout>,
    options,
  )
}

const showEnrolment = async (step: Step, key: Uint8Array, error: PlatformError | null): Promise<Response> => {
  const { visit, ...options } = frameOf(step, error)
  const { platform } = step.door
  const { userId: id, email } = step.pending
  const asked = allowsPasskeys(platform)
    ? await registrationOptions(platform, { id, email, name: email }, newChallenge(newPasskeyOf(step)))
    : null
  return page(
    <Layout title="Set up a second factor" visit={visit} width="narrow">
      <Problem error={error} />
      <p>This account needs a second factor. Set one up to finish signing in.</p>
      <Form action={signInSteps.enrolment} hidden={{ return_to: step.returnTo }} visit={step.visitor}>
        <TotpFields whom={whomOf(step)} email={step.pending.email} totpKey={key} error={error} />
        <button type="submit" class="primary">
          Turn it on and sign in
        </button>
      </Form>
      {asked === null ? null : (
        <PasskeyForm
          action={passkeyEnrolment}
          hidden={{ return_to: step.returnTo }}
          visit={step.visitor}
          kind="create"
          options={asked}
        >
          <p>Or let this device confirm that it is you, with your fingerprint, your face or its PIN.</p>
          <button type="submit">Set up a passkey and sign in</button>
        </PasskeyForm>
      )}
    </Layout>,
    options,
  )
}
