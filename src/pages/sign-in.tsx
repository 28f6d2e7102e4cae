import { hasPasswordForm, mayUsePassword, type SignInRules } from '../domain/sign-in-rules.ts'
import type { Door } from '../http/door.ts'
import { authorizationPath } from '../http/paths.ts'
import { forgetCookie, hasCookie } from '../http/cookies.ts'
import { signInHere, signInWithPasskeyHere } from '../http/sign-in-limit.ts'
import { allowsPasskeys, asked, requestOptions } from '../operations/factors/passkeys.ts'
import type { Entry } from '../operations/sessions/entry.ts'
import { hasAccounts } from '../operations/users/find-user.ts'
import { changedByVisitor, openPage, routes } from './change.tsx'
import { email, Fields, PasswordField } from './design/field.tsx'
import { Form, LinkButton, SendButton } from './design/form.tsx'
import { Layout } from './design/shell.tsx'
import { CodeBlock } from './design/values.tsx'
import { signOutHere, formOf, secretText, text, textOf } from './form.ts'
import type { Values } from './kept-form.ts'
import { forgotPasswordPath, mailsLinks } from './forgot-password.tsx'
import { comeBack, leaveForBuilder, notSignedIn } from './handover.tsx'
import { cameFromProvider, comeBackFromProvider, leaveForProvider, providerSignOut } from './identity.tsx'
import { page, seeOther, type SentForm } from './page.ts'
import { causesToBeginAgain } from '../operations/sessions/sign-in.ts'
import { assertionIn, challengeReader, newChallenge, PasskeyForm } from './passkey.tsx'
import { choiceParameter } from './query.ts'
import { goOn } from './second-step.tsx'
import { findVisit, safeReturnTo, type Visitor, visitorOf, wayBackOf } from './visit.ts'
import { departurePage } from './way-out.tsx'

/** Signing in to the pages, and signing out. */
export const signInRoutes = routes(() => [
  openPage('/sign-in', ask),
  // Only a form that this browser was shown signs it in. Otherwise another site could sign a visitor in as somebody else.
  changedByVisitor('/sign-in', {
    form: signInForm,
    show: showAgain,
    act: async ({ visitor, fields: { email, password, return_to } }) =>
      await enter(visitor, await signInHere(visitor.door, visitor.call, { email, password }), return_to),
  }),
  changedByVisitor(passkeyPath, {
    form: passkeyForm,
    show: showAgain,
    act: async ({ visitor, fields: { passkey, return_to } }) => {
      const answer = { response: assertionIn(passkey), readChallenge: challengeReader(challengeOf(visitor)) }
      return await enter(visitor, await signInWithPasskeyHere(visitor.door, visitor.call, answer), return_to)
    },
  }),
  (app, door) =>
    app.post('/sign-out', async ({ request }) => {
      await signOutHere(door, request, () => null)
      const { signOutUrl, ways } = door.platform.signIn
      const ended = [forgetCookie(door, 'session')]
      if (cameFromProvider(door, request)) {
        return seeOther('/signed-out?at=provider', [...ended, forgetCookie(door, 'way')])
      }
      if (signOutUrl !== null) return seeOther('/signed-out?at=builder', ended)
      // Not to the sign-in page: the builder would sign the person in again at once.
      return seeOther(ways[0] === 'handover' ? '/signed-out' : '/sign-in', ended)
    }),
  openPage('/signed-out', async (door, request) => {
    const at = choiceParameter(request, 'at', ['provider', 'builder'] as const)
    const next =
      at === 'provider' ? await providerSignOut(door) : at === 'builder' ? door.platform.signIn.signOutUrl : null
    return next === null
      ? notSignedIn(door, 'You are signed out', 'You are signed out of this browser.')
      : departurePage(door, next, {
          title: 'You are signed out',
          says: <p>You are signed out here. Continue to sign out of the site that you came from as well.</p>,
        })
  }),
  openPage(
    '/sign-in/handover',
    (door, request) => leaveForBuilder(door, request, { returnTo: wayBackOf(door, request) }) ?? seeOther('/sign-in'),
  ),
  openPage('/sign-in/oidc', async (door, request) => await leaveForProvider(door, request, wayBackOf(door, request))),
  openPage('/sign-in/oidc/callback', comeBackFromProvider),
  openPage('/sign-in/complete', comeBack),
])

const ask = async (door: Door, request: Request): Promise<Response> => {
  const returnTo = wayBackOf(door, request)
  if ((await findVisit(door, request)) !== null) return seeOther(returnTo)
  const { signIn } = door.platform
  // The desk is for operators, whom no builder signs in.
  const isAsked = choiceParameter(request, 'way', ['password'] as const) !== null || /^\/desk(?:[/?]|$)/.test(returnTo)
  if (signIn.ways[0] === 'handover' && !(isAsked && hasPasswordForm(signIn))) {
    const form = formIn(request)
    const notice = form === null ? null : <FormNotice form={form} />
    return (
      leaveForBuilder(door, request, { returnTo, notice, waits: form === 'lost' || form === 'instead' }) ??
      seeOther('/')
    )
  }
  // The cookie of an ended session is deleted here: every page would present it again and be refused again.
  const deleted = hasCookie(door, request, 'session') ? [forgetCookie(door, 'session')] : []
  const isFresh = !(await hasAccounts(door.platform))
  return await showForm(visitorOf(door, request), { returnTo, form: formIn(request), isFresh }, deleted)
}

const signInForm = formOf({
  email: email('Email address', { autocomplete: 'username' }),
  password: secretText,
  return_to: text,
})

const passkeyPath = '/sign-in/passkey'
const passkeyForm = formOf({ passkey: secretText, return_to: text })
const challengeOf = ({ door, secret }: Visitor) => ({ door, secret, place: 'sign-in' })

const enter = async ({ door, call: { request } }: Visitor, entry: Entry, returnTo: string): Promise<Response> =>
  await goOn(door, request, entry, safeReturnTo(returnTo, door.platform.publicUrl))

const showAgain = async (visitor: Visitor, sent: Values): Promise<Response> => {
  const returnTo = safeReturnTo(textOf(sent['return_to']), visitor.door.platform.publicUrl)
  return await showForm(visitor, { returnTo, form: null, isFresh: false })
}

type Shown = {
  readonly returnTo: string
  /** What happened to a form that was sent after its session had ended; null without one. */
  readonly form: keyof typeof formWords | null
  /** Nobody has an account yet. */
  readonly isFresh: boolean
}

const formWords = {
  kept: 'Your session has ended, and nothing was sent. Sign in to see your form again, as you filled it in.',
  instead:
    'Your session has ended, and nothing was sent. Sign in to see your form again, as you filled it in. A form that you sent before it has no room beside it: go back to it in its tab and copy what you typed before you sign in.',
  lost: 'Your session has ended, and nothing was sent. This form cannot be kept: go back in your browser and copy what you typed before you sign in.',
  ended: 'Your session has ended, and nothing was sent.',
  late: 'This sign-in took longer than ten minutes, or another one was begun or completed in this browser. Sign in again.',
  changed: causesToBeginAgain.changed,
} as const satisfies Record<SentForm, string>

const formIn = (request: Request): Shown['form'] =>
  choiceParameter(request, 'form', ['kept', 'instead', 'lost', 'ended', 'late', 'changed'] as const)

/** The script shows the other words for a form that it keeps in the tab. */
const FormNotice = ({ form }: { readonly form: keyof typeof formWords }) => (
  <p class="notice" role="status" data-kept={form === 'lost' ? formWords.kept : undefined}>
    {formWords[form]}
  </p>
)

const showForm = async (visitor: Visitor, { returnTo, form, isFresh }: Shown, more: readonly string[] = []) => {
  const { door, cookies } = visitor
  const isForApp = returnTo.startsWith(`${authorizationPath}?`)
  const { signIn } = door.platform
  const byPasskey = hasPasswordForm(signIn) && allowsPasskeys(door.platform)
  const options = byPasskey
    ? await requestOptions(door.platform, asked.alone, newChallenge(challengeOf(visitor)))
    : null
  return page(
    <Layout title="Sign in" visit={visitor} width="narrow">
      {form === null ? null : <FormNotice form={form} />}
      {isFresh ? <FirstAccount /> : null}
      {isForApp ? <p>An app asks for access to your account. Sign in to see what it asks for, then decide.</p> : null}
      {hasPasswordForm(signIn) ? <PasswordForm visitor={visitor} returnTo={returnTo} /> : null}
      {mailsLinks(door) ? (
        <p>
          <a href={forgotPasswordPath}>Forgot your password?</a>
        </p>
      ) : null}
      {options === null ? null : (
        <PasskeyForm action={passkeyPath} visit={visitor} kind="get" options={options} hidden={{ return_to: returnTo }}>
          <button type="submit">Use a passkey instead</button>
        </PasskeyForm>
      )}
      <OtherWays rules={signIn} returnTo={returnTo} />
      {isForApp || isFresh ? null : (
        <p class="muted">
          You can see <a href="/apps">the apps</a> and <a href="/docs/guides">the guides</a> without an account.
        </p>
      )}
    </Layout>,
    { cookies: [...cookies, ...more] },
  )
}

/** The page is public, so it names no file of this machine; the server prints the whole command when it starts. */
const FirstAccount = () => (
  <>
    <p>
      There are no accounts yet. Create the first one on the server, with its settings. The server printed the whole
      command when it started:
    </p>
    <CodeBlock
      id="first-account"
      label="Create the first account"
      code={'app-platform user invite --operator \\\n  --name "Your Name" you@example.com'}
    />
    <p>It prints a link that lets you set your password. Then sign in here.</p>
  </>
)

type PasswordFormProps = Pick<Shown, 'returnTo'> & { readonly visitor: Visitor }

const PasswordForm = ({ visitor, returnTo }: PasswordFormProps) => (
  <Form action="/sign-in" visit={visitor}>
    <input type="hidden" name="return_to" value={returnTo} />
    <Fields of={signInForm} />
    <PasswordField label="Password" name="password" />
    <SendButton>Sign in</SendButton>
  </Form>
)

type OtherWaysProps = { readonly rules: SignInRules; readonly returnTo: string }

/** The ways in without a password stored here, or whom to ask. */
const OtherWays = ({ rules, returnTo }: OtherWaysProps) => {
  const query = new URLSearchParams({ return_to: returnTo }).toString()
  const others = [
    { way: 'oidc', words: `Sign in with ${rules.providerName}` },
    { way: 'handover', words: 'Sign in with your builder account' },
  ].filter(({ way }) => rules.ways.some((each) => each === way))
  if (others.length === 0) {
    return (
      <p class="muted">
        The operator of this server creates accounts. Ask them if you have no account or cannot sign in.
      </p>
    )
  }
  return (
    <>
      {others.map(({ way, words }) => (
        <p key={way}>
          <LinkButton href={`/sign-in/${way}?${query}`}>{words}</LinkButton>
        </p>
      ))}
      {mayUsePassword(rules, false) ? null : <p class="muted">Only operators have passwords here.</p>}
    </>
  )
}
