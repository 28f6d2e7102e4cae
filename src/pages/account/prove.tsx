import { Type } from '@sinclair/typebox'
import { mayUsePassword, operatorProofs, waysElsewhere } from '../../domain/sign-in-rules.ts'
import { withCodeLimit, withGuessLimit, withoutLimit, withPasswordLimit } from '../../http/sign-in-limit.ts'
import { asked as passkeyOf, requestOptions } from '../../operations/factors/passkeys.ts'
import type { Platform } from '../../operations/platform.ts'
import { meansOf, type ProofGiven, proveAgain } from '../../operations/sessions/prove-again.ts'
import { formPage, pageFor, routes } from '../change.tsx'
import { PasswordField } from '../design/field.tsx'
import { Form, LinkButton, MainLink, SendOrCancel } from '../design/form.tsx'
import { Layout } from '../design/shell.tsx'
import { formOf, optionalText, secretText, text, textOf } from '../form.ts'
import type { Values } from '../kept-form.ts'
import { proveAtBuilder } from '../handover.tsx'
import { proveAtProvider } from '../identity.tsx'
import { isReading, page, seeOther } from '../page.ts'
import { assertionIn, challengeReader, newChallenge, PasskeyForm } from '../passkey.tsx'
import { provedCookie, provePath } from '../proof.ts'
import { parametersOf } from '../query.ts'
import { CodeField } from '../totp-setup.tsx'
import { safeReturnTo, type Visit, wayBackOf } from '../visit.ts'

/** One of the three, and where to go then. None is ever kept. */
const proveForm = formOf({
  password: Type.Optional(secretText),
  code: Type.Optional(secretText),
  passkey: Type.Optional(secretText),
  kind: text,
  return_to: optionalText,
  back: optionalText,
})

const proveElsewherePaths = { oidc: `${provePath}/oidc`, handover: `${provePath}/handover` } as const

/** The page that asks a signed-in person to prove again that it is them, and leads back to their form. */
export const proveRoutes = routes(() => [
  formPage(provePath, {
    by: 'user',
    effect: 'is the proof',
    shareOf: 'session',
    form: proveForm,
    show: async (visit, _, sent) => await show(visit, waysOf(visit, sent)),
    act: async ({ visit, fields }) => {
      await prove(visit, fields)
      return seeOther(waysOf(visit, fields).returnTo, [provedCookie(visit)])
    },
  }),
  pageFor('user', proveElsewherePaths.oidc, async (visit) => await proveAtProvider(visit, wayBack(visit))),
  pageFor('user', proveElsewherePaths.handover, (visit) => proveAtBuilder(visit, wayBack(visit))),
])

const wayBack = ({ door, call }: Visit): string => wayBackOf(door, call.request)

type Given = Partial<Readonly<Record<'kind' | 'password' | 'code' | 'passkey', string>>>

const challengeOf = ({ door, sessionToken, userId }: Visit) => ({ door, secret: sessionToken, place: userId })

const proofIn = (visit: Visit, { kind, password = '', code = '', passkey = '' }: Given): ProofGiven => {
  if (kind === 'code') return { kind, text: code }
  if (kind !== 'passkey') return { kind: 'password', text: password }
  return { kind, answer: { response: assertionIn(passkey), readChallenge: challengeReader(challengeOf(visit)) } }
}

/** Guesses count for the session alone: neither a thief of another one nor anybody at the same address uses up its tries. */
const prove = async (visit: Visit, given: Given) => {
  const { door, call, session } = visit
  const proof = proofIn(visit, given)
  const guesser = { account: session.user.email, knownAs: session.sessionKey }
  const check = async (platform: Platform = door.platform) => await proveAgain(platform, call, session, proof)
  if (proof.kind === 'passkey') return await withoutLimit(door, check)
  if (proof.kind === 'password') return await withPasswordLimit(door, call, guesser, check)
  const guess = async () => await withGuessLimit(door, call, guesser, check)
  return await withCodeLimit(door, call, `prove ${session.sessionKey}`, guess)
}

type Ways = { readonly returnTo: string; readonly back: string }

/** Where the person goes afterwards, and where if they cancel, by the form or the address. Both are pages of ours. */
const waysOf = ({ door: { platform }, call: { request } }: Visit, sent: Values): Ways => {
  const given = isReading(request) ? parametersOf(request) : sent
  const way = (name: string) => safeReturnTo(textOf(given[name]), platform.publicUrl)
  return { returnTo: way('return_to'), back: way('back') }
}

const show = async (visit: Visit, { returnTo, back }: Ways): Promise<Response> => {
  const { platform } = visit.door
  const means = await meansOf(platform, visit.session)
  const asked = means.passkey
    ? await requestOptions(platform, passkeyOf.again(visit.userId), newChallenge(challengeOf(visit)))
    : null
  const hidden = { return_to: returnTo, back }
  const query = new URLSearchParams({ return_to: returnTo }).toString()
  return page(
    <Layout title="Confirm that it is you" visit={visit} section="account" width="narrow">
      <p>This step needs your confirmation, which then counts for ten minutes.</p>
      {means.password ? (
        <Form action={provePath} visit={visit} hidden={{ kind: 'password', ...hidden }}>
          <input type="text" name="username" autocomplete="username" value={means.email} readOnly hidden />
          <PasswordField label="Password" name="password" />
          <SendOrCancel button="Continue" back={back} />
        </Form>
      ) : null}
      {means.code ? (
        <Form action={provePath} visit={visit} hidden={{ kind: 'code', ...hidden }}>
          <CodeField label={means.password ? 'Or a code from your app' : 'Code from your app'} />
          <button type="submit">Continue with the code</button>
        </Form>
      ) : null}
      {asked === null ? null : (
        <PasskeyForm
          action={provePath}
          visit={visit}
          kind="get"
          options={asked}
          hidden={{ kind: 'passkey', ...hidden }}
        >
          <button type="submit">Continue with a passkey</button>
        </PasskeyForm>
      )}
      {means.passkey && !means.password && !means.code ? (
        <>
          <p data-without-passkey>Passkeys need JavaScript and a browser that supports them.</p>
          <p class="muted">
            If your passkey is lost or does not work,{' '}
            {visit.session.user.isOperator ? 'another operator' : 'the operator of this server'} can reset your second
            factors. Then you can set up a new one right after you have signed in.
          </p>
        </>
      ) : null}
      {means.password || means.code
        ? null
        : means.elsewhere.map((way) => (
            <p key={way}>
              <MainLink href={`${proveElsewherePaths[way]}?${query}`}>
                {way === 'oidc' ? `Sign in again with ${platform.signIn.providerName}` : 'Sign in again'}
              </MainLink>
            </p>
          ))}
      {means.hasSome ? null : <WithoutMeans visit={visit} returnTo={returnTo} canTry={means.elsewhere.length > 0} />}
      {means.password ? null : (
        <p class="beside apart">
          <LinkButton href={back}>Cancel</LinkButton>
        </p>
      )}
    </Layout>,
  )
}

type WithoutMeansProps = { readonly visit: Visit; readonly returnTo: string; readonly canTry: boolean }

/** How somebody gets something to confirm with, or who can help. Signing in again is enough to set up the first factor. */
const WithoutMeans = ({ visit, returnTo, canTry }: WithoutMeansProps) => {
  const { signIn } = visit.door.platform
  const { isOperator } = visit.session.user
  const [way] = waysElsewhere(signIn, isOperator)
  const setUp = `/account/factors/totp?${new URLSearchParams({ return_to: returnTo }).toString()}`
  return (
    <>
      {canTry ? <p>If you are not asked there, or it does not count here, set up an authenticator app.</p> : null}
      {isOperator ? <p>Operators confirm with {operatorProofs(signIn)}. You have none yet.</p> : null}
      {way === undefined ? null : (
        <p>
          <LinkButton href={`/sign-in/${way}?${new URLSearchParams({ return_to: setUp }).toString()}`}>
            Sign in and set up an authenticator app
          </LinkButton>
        </p>
      )}
      <p class="muted">
        {isOperator && mayUsePassword(signIn, true)
          ? 'Another operator can create a link with which you set a password. On the server, the command “app-platform user reset-link” prints one.'
          : `If this does not work, ask the operator of this server${mayUsePassword(signIn, false) ? ': they can create a link with which you set a password' : ''}.`}
      </p>
    </>
  )
}
