import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { mayUsePassword } from '../../domain/sign-in-rules.ts'
import type { Door } from '../../http/door.ts'
import { hold } from '../../http/limits.ts'
import { withSignInLimit } from '../../http/sign-in-limit.ts'
import { allowsPasskeys, asked as passkeyOf, requestOptions } from '../../operations/factors/passkeys.ts'
import { type ProofGiven, proveAgain } from '../../operations/sessions/prove-again.ts'
import { inspectUser } from '../../operations/users/find-user.ts'
import { Field, Problem } from '../design/field.tsx'
import { SendOrCancel, Form } from '../design/form.tsx'
import { Layout } from '../design/shell.tsx'
import { answerForm, formOf, optionalText, receiveFromUser, secretText, text } from '../form.ts'
import { proveAtBuilder } from '../handover.tsx'
import { proveAtProvider } from '../identity.tsx'
import { page, seeOther } from '../page.ts'
import { assertionIn, challengeReader, newChallenge, PasskeyForm } from '../passkey.tsx'
import { provedCookie, provePath } from '../proof.ts'
import { CodeField } from '../totp-setup.tsx'
import { requireVisit, safeReturnTo, type Visit } from '../visit.ts'

/** One of the three, and where to go then. None is ever kept. */
const proveForm = formOf({
  password: Type.Optional(secretText),
  code: Type.Optional(secretText),
  passkey: Type.Optional(secretText),
  kind: text,
  return_to: optionalText,
})

const proveElsewherePaths = { oidc: `${provePath}/oidc`, handover: `${provePath}/handover` } as const

/** The page that asks a signed-in person to prove again that it is them, and leads back to their form. */
export const proveRoutes = (door: Door) =>
  new Elysia()
    .get(provePath, async ({ request }) => {
      const visit = await requireVisit(door, request)
      return await show(visit, new URL(request.url).searchParams.get('return_to'), null)
    })
    .get(proveElsewherePaths.oidc, async ({ request }) => {
      const visit = await requireVisit(door, request)
      return await proveAtProvider(visit, wayBack(visit))
    })
    .get(proveElsewherePaths.handover, async ({ request }) => {
      const visit = await requireVisit(door, request)
      return proveAtBuilder(visit, wayBack(visit))
    })
    .post(provePath, async ({ request }) => {
      const { visit, fields } = await receiveFromUser(door, request, proveForm)
      const returnTo = fields.return_to ?? null
      return await answerForm(prove(visit, fields), {
        done: () => seeOther(safeReturnTo(returnTo, door.platform.publicUrl), [provedCookie(visit)]),
        refused: async (error) => await show(visit, returnTo, error),
      })
    })

const wayBack = ({ door, call }: Visit): string =>
  safeReturnTo(new URL(call.request.url).searchParams.get('return_to'), door.platform.publicUrl)

type Given = Partial<Readonly<Record<'kind' | 'password' | 'code' | 'passkey', string>>>

const challengeOf = ({ door, sessionToken, userId }: Visit) => ({ door, secret: sessionToken, place: userId })

const proofIn = (visit: Visit, { kind, password = '', code = '', passkey = '' }: Given): ProofGiven => {
  if (kind === 'code') return { kind, text: code }
  if (kind !== 'passkey') return { kind: 'password', text: password }
  return { kind, answer: { response: assertionIn(passkey), readChallenge: challengeReader(challengeOf(visit)) } }
}

/** Guesses count together with those on the sign-in page, and codes also for the account. */
const prove = async (visit: Visit, given: Given) => {
  const { door, call, session } = visit
  const proof = proofIn(visit, given)
  const key = `prove ${session.sessionKey}` // a thief of one session must not use up the tries of the others
  if (proof.kind === 'code') hold(call, door.limiter.take('code', key))
  await withSignInLimit(
    door,
    call,
    { email: session.user.email, knownAs: async () => session.sessionKey },
    async (platform) => await proveAgain(platform, call, session, proof),
  )
  if (proof.kind === 'code') door.limiter.giveBack('code', key)
}

const show = async (visit: Visit, to: string | null, error: PlatformError | null): Promise<Response> => {
  const { platform } = visit.door
  const returnTo = safeReturnTo(to, platform.publicUrl)
  const { hasPassword, factors, email } = await inspectUser(platform, visit.userId)
  const byPassword = hasPassword && mayUsePassword(platform.signIn, visit.session.user.isOperator)
  const asked =
    factors.passkeys.length > 0 && allowsPasskeys(platform)
      ? await requestOptions(platform, passkeyOf.again(visit.userId), newChallenge(challengeOf(visit)))
      : null
  const ways = platform.signIn.ways.flatMap((way) => (way === 'password' ? [] : [way]))
  const query = new URLSearchParams({ return_to: returnTo }).toString()
  return page(
    <Layout title="Confirm that it is you" visit={visit} section="account" width="narrow">
      <Problem error={error} />
      <p>
        This step needs your confirmation, which then counts for ten minutes. Your form is shown again afterwards: send
        it once more.
      </p>
      {byPassword ? (
        <Form action={provePath} visit={visit} hidden={{ kind: 'password', return_to: returnTo }}>
          <input type="text" name="username" autocomplete="username" value={email} readOnly hidden />
          <Field
            label="Password"
            name="password"
            error={error}
            input={{ type: 'password', autocomplete: 'current-password', required: true, maxLength: 1024 }}
          />
          <SendOrCancel button="Continue" back={returnTo} />
        </Form>
      ) : null}
      {factors.totp === null ? null : (
        <Form action={provePath} visit={visit} hidden={{ kind: 'code', return_to: returnTo }}>
          <CodeField label={byPassword ? 'Or a code from your app' : 'Code from your app'} error={error} />
          <button type="submit">Continue with the code</button>
        </Form>
      )}
      {asked === null ? null : (
        <PasskeyForm
          action={provePath}
          visit={visit}
          kind="get"
          options={asked}
          hidden={{ kind: 'passkey', return_to: returnTo }}
        >
          <button type="submit">Continue with a passkey</button>
        </PasskeyForm>
      )}
      {byPassword || factors.totp !== null
        ? null
        : ways.map((way) => (
            <p key={way}>
              <a class="button primary" href={`${proveElsewherePaths[way]}?${query}`}>
                {way === 'oidc' ? `Sign in again with ${platform.signIn.providerName}` : 'Sign in again'}
              </a>
            </p>
          ))}
      {byPassword ? null : (
        <p class="beside apart">
          <a class="button" href={returnTo}>
            Cancel
          </a>
        </p>
      )}
    </Layout>,
    { refusal: error },
  )
}
