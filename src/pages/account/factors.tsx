import { recoveryCodeCount } from '../../domain/second-factor.ts'
import { addAuthenticatorApp, removeFactor, replaceRecoveryCodes } from '../../operations/factors/change-factors.ts'
import { type Factors, factorsOf } from '../../operations/factors/factors.ts'
import { formPage, pageFor, routes } from '../change.tsx'
import { Badge } from '../design/badge.tsx'
import { SendOrCancel, Form } from '../design/form.tsx'
import { IconTile } from '../design/icon.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { Layout } from '../design/shell.tsx'
import { CodeBlock, Time } from '../design/values.tsx'
import { emptyForm, textOf } from '../form.ts'
import type { Values } from '../kept-form.ts'
import { page, seeOther } from '../page.ts'
import { secretPage, showOnce } from '../secret-page.tsx'
import { noticesOf, StepButton, stepRoutes } from '../step.tsx'
import { openTotpKey, TotpFields, totpForm } from '../totp-setup.tsx'
import { safeReturnTo, type Visit } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'
import { signInWords } from '../sign-in-words.tsx'
import { AddPasskeyRow, ofFactors, passkeyRemoval, PasskeyRow } from './passkeys.tsx'

const notices = {
  added: 'The authenticator app is set up. From now on you need a code from it to sign in.',
  passkey_added: 'The passkey is added. From now on you need it, or another second factor, to sign in.',
} as const

/** What a person proves at the sign-in in addition to the password. */
export const factorRoutes = routes(() => [
  stepRoutes(totpRemoval, newCodes),
  pageFor('user', accountPaths.factors, showAll),
  pageFor('user', accountPaths.offer, showOffer),
  formPage(accountPaths.totp, {
    by: 'user',
    effect: 'sets up a second factor',
    form: totpForm,
    show: (visit, _, sent) => showSetUp(visit, sent),
    act: async ({ visit, fields }) => {
      const key = openTotpKey(whomOf(visit), fields.key)
      const codes = await visit.asOwner().do(addAuthenticatorApp, { key, code: fields.code })
      if (codes.length === 0) return seeOther(`${accountPaths.factors}?done=added`)
      const returnTo = safeReturnTo(fields.return_to ?? null, visit.door.platform.publicUrl)
      return showOnce(visit, accountPaths.newCodes, codes.join('\n'), { return_to: returnTo })
    },
  }),
  pageFor('user', accountPaths.newCodes, showCodes),
])

const totpRemoval = ofFactors('totp/remove', {
  link: ['Remove'],
  effect: 'weakens the sign-in',
  form: emptyForm,
  ask: (visit) => ({
    title: 'Remove your authenticator app?',
    says: (
      <p>
        Without a passkey, {signInWords(visit).alone} then enough to sign in, and your recovery codes stop working. You
        stay signed in where you are.
      </p>
    ),
    button: 'Remove it',
  }),
  act: async ({ visit }) => {
    await visit.asOwner().do(removeFactor, { kind: 'totp' })
    return 'removed'
  },
  done: { removed: 'The authenticator app is removed.' },
})

const newCodes = ofFactors('recovery-codes', {
  link: ['Create new codes'],
  effect: 'gives a secret',
  form: emptyForm,
  ask: () => ({
    title: 'Create new recovery codes?',
    says: <p>The old ones stop working. The next page shows the new ones once.</p>,
    button: 'Create new codes',
  }),
  act: async ({ visit }) => {
    const codes = await visit.asOwner().do(replaceRecoveryCodes)
    return showOnce(visit, accountPaths.newCodes, codes.join('\n'))
  },
  done: {},
})

const returnToIn = ({ door, call }: Visit): string =>
  safeReturnTo(new URL(call.request.url).searchParams.get('return_to') ?? accountPaths.factors, door.platform.publicUrl)

const withReturn = (path: string, returnTo: string): string =>
  `${path}?${new URLSearchParams({ return_to: returnTo }).toString()}`

const showAll = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const factors = await factorsOf(platform, visit.userId)
  return page(
    <AccountPage
      title="Second factors"
      about={`What you need in addition to ${signInWords(visit).first} to sign in.`}
      visit={visit}
      tab={accountPaths.factors}
      notices={{ ...notices, ...noticesOf(totpRemoval, passkeyRemoval) }}
    >
      <RowList
        label="Your second factors"
        rows={[
          <TotpRow visit={visit} factors={factors} />,
          ...factors.passkeys.map((passkey) => <PasskeyRow visit={visit} passkey={passkey} />),
          <AddPasskeyRow visit={visit} />,
          ...(factors.totp === null && factors.passkeys.length === 0
            ? []
            : [<CodesRow visit={visit} factors={factors} />]),
        ]}
        row={(row) => row}
      />
      <p class="muted">
        If you lose everything, the operator of this server can reset your second factors. Apps that you have connected
        are not affected.
      </p>
    </AccountPage>,
  )
}

type FactorsProps = { readonly visit: Visit; readonly factors: Factors }

const TotpRow = ({ visit, factors: { totp } }: FactorsProps) => (
  <Row
    avatar={<IconTile name="shield" />}
    title="Authenticator app"
    badge={totp === null ? undefined : <Badge tone="good">On</Badge>}
    facts={
      totp === null
        ? ['Six-digit codes from an app on your phone or from your password manager.']
        : [
            <>
              Set up <Time at={totp.createdAt} />
            </>,
            totp.lastUsedAt === null ? (
              'Not used yet'
            ) : (
              <>
                Last used <Time at={totp.lastUsedAt} />
              </>
            ),
          ]
    }
    actions={
      totp === null ? (
        <a class="button small" href={accountPaths.totp}>
          Set up
        </a>
      ) : (
        <StepButton visit={visit} step={totpRemoval} of={null} params={{}} look="small">
          {' '}
          the authenticator app
        </StepButton>
      )
    }
  />
)

const CodesRow = ({ visit, factors: { recoveryCodes } }: FactorsProps) => (
  <Row
    avatar={<IconTile name="key" />}
    title="Recovery codes"
    badge={recoveryCodes < 3 ? <Badge tone="waiting">{`${recoveryCodes} left`}</Badge> : undefined}
    facts={[`${recoveryCodes} of ${recoveryCodeCount} left. Each signs you in once without your other factors.`]}
    actions={<StepButton visit={visit} step={newCodes} of={null} params={{}} look="small" />}
  />
)

const whomOf = ({ door, sessionToken, userId }: Visit) => ({ door, secret: sessionToken, userId })

const showSetUp = (visit: Visit, sent: Values): Response => {
  const typed = sent['return_to']
  const returnTo = typed === undefined ? returnToIn(visit) : safeReturnTo(textOf(typed), visit.door.platform.publicUrl)
  return page(
    <AccountPage title="Set up an authenticator app" visit={visit} tab={accountPaths.factors}>
      <Form action={accountPaths.totp} visit={visit} class="measure" hidden={{ return_to: returnTo }}>
        <TotpFields whom={whomOf(visit)} email={visit.session.user.email} sent={sent} />
        <SendOrCancel button="Turn it on" back={returnTo} />
      </Form>
    </AccountPage>,
  )
}

/** New recovery codes, right after they were made. */
const showCodes = (visit: Visit): Response => {
  const returnTo = returnToIn(visit)
  return secretPage(visit, (value) => {
    const codes = value === '' ? null : value
    return (
      <AccountPage title="Recovery codes" visit={visit} tab={accountPaths.factors}>
        {codes === null ? (
          <p>
            There are no new codes to show. Codes are shown once, right after they are created. If you did not save
            them, create new ones.
          </p>
        ) : (
          <>
            <p>
              Each of these codes signs you in once when you do not have your other second factors. Keep them where you
              keep your passwords, or print them. Only their hashes are stored, so they cannot be shown again.
            </p>
            <CodeBlock id="recovery-codes" label="Your recovery codes" code={codes} />
            <p class="beside">
              <a
                class="button"
                download="recovery-codes.txt"
                href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${codes}\n`)}`}
              >
                Download them
              </a>
              <button type="button" data-print hidden>
                Print this page
              </button>
            </p>
          </>
        )}
        <p>
          <a class="button" href={returnTo}>
            {codes === null ? 'Continue' : 'I have saved them: continue'}
          </a>
        </p>
      </AccountPage>
    )
  })
}

/** Asks a person of whom a second factor will be required. They can put it off until then. */
const showOffer = async (visit: Visit): Promise<Response> => {
  const returnTo = returnToIn(visit)
  const { totp, passkeys, dueAt } = await factorsOf(visit.door.platform, visit.userId)
  if (totp !== null || passkeys.length > 0) return seeOther(returnTo)
  return page(
    <Layout title="Protect your account with a second factor" visit={visit} section="account" width="narrow">
      <p>
        With a second factor, {signInWords(visit).stolen}. You need a passkey, an authenticator app on your phone, or a
        password manager that has either.
      </p>
      {dueAt === null ? null : (
        <p>
          From <Time at={dueAt} /> you cannot sign in without one.
        </p>
      )}
      <p class="beside">
        <a class="button primary" href={withReturn(accountPaths.totp, returnTo)}>
          Set up an authenticator app
        </a>
        <a class="button" href={accountPaths.addPasskey}>
          Add a passkey
        </a>
        <a class="button" href={returnTo}>
          Not now
        </a>
      </p>
    </Layout>,
  )
}
