import { recoveryCodeCount } from '../../domain/second-factor.ts'
import { addAuthenticatorApp, removeFactor, replaceRecoveryCodes } from '../../operations/factors/change-factors.ts'
import { type Factors, factorsOf } from '../../operations/factors/factors.ts'
import { formPage, pageFor, routes } from '../change.tsx'
import { Badge } from '../design/badge.tsx'
import { Form, LinkButton, MainLink, SendOrCancel, SmallLink } from '../design/form.tsx'
import { IconTile } from '../design/icon.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { Layout } from '../design/shell.tsx'
import { CodeBlock, LastUsed, Time, TimeFact } from '../design/values.tsx'
import { formOf, secretText, textOf } from '../form.ts'
import type { Values } from '../kept-form.ts'
import { page, seeOther } from '../page.ts'
import { secretPage, showOnce } from '../secret-page.tsx'
import { noticesOf, StepButton, stepRoutes, stepsOf } from '../step.tsx'
import { openTotpKey, TotpFields, totpForm } from '../totp-setup.tsx'
import { safeReturnTo, type Visit } from '../visit.ts'
import { accountArea, AccountPage, accountPaths } from './account-page.tsx'
import { signInWords } from '../sign-in-words.tsx'
import { browserLabel } from '../../domain/device.ts'
import { refuse } from '../../domain/errors.ts'
import { addPasskey, allowsPasskeys, registrationOptions } from '../../operations/factors/passkeys.ts'
import { Fields, line } from '../design/field.tsx'
import { challengeReader, newChallenge, PasskeyForm, registrationIn } from '../passkey.tsx'

const notices = {
  added: 'The authenticator app is set up. From now on you need a code from it to sign in.',
  passkey_added: 'The passkey is added. From now on you need it, or another second factor, to sign in.',
} as const

/** What a person proves at the sign-in in addition to the password. */
export const factorRoutes = routes(() => [
  stepRoutes(totpRemoval, newCodes, passkeyRemoval),
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
  newPasskey,
])

/** The steps about second factors lead back to the list of them. */
const ofFactors = stepsOf({
  area: accountArea,
  root: '/account/factors',
  find: async ({ door, userId }) => await factorsOf(door.platform, userId),
  back: () => ({ href: accountPaths.factors, name: 'Second factors' }),
})

const totpRemoval = ofFactors('totp/remove', {
  link: ['Remove'],
  unless: ({ totp }) => (totp === null ? 'You have no authenticator app set up.' : null),
  effect: 'weakens the sign-in',
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
  act: async ({ visit }) => await visit.asOwner().do(removeFactor, { kind: 'totp' }),
  done: { removed: 'The authenticator app is removed.' },
})

const newCodes = ofFactors('recovery-codes', {
  link: ['Create new codes'],
  unless: ({ totp, passkeys }) =>
    totp === null && passkeys.length === 0 ? 'Recovery codes come with a second factor, and you have none.' : null,
  effect: 'gives a secret',
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
          ...factors.passkeys.map((passkey) => <PasskeyRow visit={visit} factors={factors} passkey={passkey} />),
          <AddPasskeyRow visit={visit} />,
          ...(newCodes.isPossible(factors, visit) ? [<CodesRow visit={visit} factors={factors} />] : []),
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

const TotpRow = ({ visit, factors, factors: { totp } }: FactorsProps) => (
  <Row
    avatar={<IconTile name="shield" />}
    title="Authenticator app"
    badge={totp === null ? undefined : <Badge tone="good">On</Badge>}
    facts={
      totp === null
        ? ['Six-digit codes from an app on your phone or from your password manager.']
        : [<TimeFact words="Set up" at={totp.createdAt} />, <LastUsed at={totp.lastUsedAt} never="Not used yet" />]
    }
    actions={
      totp === null ? (
        <SmallLink href={accountPaths.totp}>Set up</SmallLink>
      ) : (
        <StepButton visit={visit} step={totpRemoval} of={factors} params={{}} look="small">
          {' '}
          the authenticator app
        </StepButton>
      )
    }
  />
)

const CodesRow = ({ visit, factors, factors: { recoveryCodes } }: FactorsProps) => (
  <Row
    avatar={<IconTile name="key" />}
    title="Recovery codes"
    badge={recoveryCodes < 3 ? <Badge tone="waiting">{`${recoveryCodes} left`}</Badge> : undefined}
    facts={[`${recoveryCodes} of ${recoveryCodeCount} left. Each signs you in once without your other factors.`]}
    actions={<StepButton visit={visit} step={newCodes} of={factors} params={{}} look="small" />}
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
          <LinkButton href={returnTo}>{codes === null ? 'Continue' : 'I have saved them: continue'}</LinkButton>
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
        <MainLink href={withReturn(accountPaths.totp, returnTo)}>Set up an authenticator app</MainLink>
        <LinkButton href={accountPaths.addPasskey}>Add a passkey</LinkButton>
        <LinkButton href={returnTo}>Not now</LinkButton>
      </p>
    </Layout>,
  )
}

const passkeyForm = formOf({
  name: line('Name', { hint: 'Helps you tell your passkeys apart, such as the name of the device.' }),
  passkey: secretText,
})

/** Adds a passkey of the person who is signed in. */
const newPasskey = formPage(accountPaths.addPasskey, {
  by: 'user',
  // Before the browser makes a passkey: after it, an answer that is not taken would leave one that works nowhere.
  effect: 'sets up a second factor',
  form: passkeyForm,
  show: async (visit) => await showAdd(visit),
  act: async ({ visit, fields }) => {
    const response = registrationIn(fields.passkey)
    const readChallenge = challengeReader(challengeOf(visit))
    const codes = await visit.asOwner().do(addPasskey, { response, name: fields.name, readChallenge })
    return codes.length === 0
      ? seeOther(`${accountPaths.factors}?done=passkey_added`)
      : showOnce(visit, accountPaths.newCodes, codes.join('\n'), { return_to: accountPaths.factors })
  },
})

const passkeyRemoval = ofFactors('passkeys/:id/remove', {
  link: ['Remove'],
  effect: 'weakens the sign-in',
  ask: (visit, { passkeys, totp }, { id }) => {
    const found = passkeys.find((passkey) => passkey.id === id)
    if (found === undefined) throw refuse('route_not_found')
    const isLast = totp === null && passkeys.length === 1
    return {
      title: `Remove the passkey ${found.name}?`,
      says: (
        <p>
          It cannot sign you in any more.{' '}
          {isLast
            ? `It is your last second factor: ${signInWords(visit).alone} then enough, and your recovery codes stop working. `
            : ''}
          You stay signed in where you are. Delete it from your device or password manager as well.
        </p>
      ),
      button: 'Remove it',
    }
  },
  act: async ({ visit }, _, { id }) => await visit.asOwner().do(removeFactor, { kind: 'passkey', id }),
  done: { passkey_removed: 'The passkey is removed.' },
})

const challengeOf = ({ door, sessionToken, userId }: Visit) => ({ door, secret: sessionToken, place: `new ${userId}` })

const showAdd = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const browser = browserLabel(visit.call.request.headers.get('user-agent')) ?? ''
  const words = allowsPasskeys(platform)
    ? 'Passkeys need JavaScript and a browser that supports them. You can set up an authenticator app instead.'
    : 'Browsers allow passkeys only over HTTPS and at a host name. Ask the operator of this server for such an address.'
  const options = allowsPasskeys(platform)
    ? await registrationOptions(platform, visit.session.user, newChallenge(challengeOf(visit)))
    : null
  return page(
    <AccountPage title="Add a passkey" visit={visit} tab={accountPaths.factors}>
      <p data-without-passkey>{words}</p>
      {options === null ? null : (
        <PasskeyForm action={accountPaths.addPasskey} visit={visit} kind="create" options={options}>
          <Fields of={passkeyForm} values={{ name: browser }} />
          <p class="muted">Your browser then asks you to choose where the passkey is kept.</p>
          <SendOrCancel button="Add the passkey" back={accountPaths.factors} />
        </PasskeyForm>
      )}
    </AccountPage>,
  )
}

type PasskeyRowProps = FactorsProps & { readonly passkey: Factors['passkeys'][number] }

const PasskeyRow = ({ visit, factors, passkey: { id, name, createdAt, lastUsedAt } }: PasskeyRowProps) => (
  <Row
    avatar={<IconTile name="key" />}
    title={<bdi>{name}</bdi>}
    facts={['Passkey', <TimeFact words="Added" at={createdAt} />, <LastUsed at={lastUsedAt} never="Not used yet" />]}
    actions={
      <StepButton visit={visit} step={passkeyRemoval} of={factors} params={{ id }} look="small">
        {' '}
        the passkey {name}
      </StepButton>
    }
  />
)

const AddPasskeyRow = ({ visit }: { readonly visit: Visit }) => (
  <Row
    avatar={<IconTile name="key" />}
    title="Passkeys"
    facts={[
      'Your fingerprint, face or PIN, or a security key.',
      visit.session.user.hasPassword ? 'It also signs you in without your password.' : null,
    ]}
    actions={
      <SmallLink href={accountPaths.addPasskey}>
        Add<span class="unseen"> a passkey</span>
      </SmallLink>
    }
  />
)
