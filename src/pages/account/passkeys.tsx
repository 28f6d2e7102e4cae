import { browserLabel } from '../../domain/device.ts'
import { refuse } from '../../domain/errors.ts'
import { type Factors, factorsOf } from '../../operations/factors/factors.ts'
import { removeFactor } from '../../operations/factors/change-factors.ts'
import { addPasskey, allowsPasskeys, registrationOptions } from '../../operations/factors/passkeys.ts'
import { formPage, routes } from '../change.tsx'
import { Field } from '../design/field.tsx'
import { SendOrCancel } from '../design/form.tsx'
import { IconTile } from '../design/icon.tsx'
import { Row } from '../design/row-list.tsx'
import { Time } from '../design/values.tsx'
import { emptyForm, formOf, secretText, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { challengeReader, newChallenge, PasskeyForm, registrationIn } from '../passkey.tsx'
import { showOnce } from '../secret-page.tsx'
import { StepButton, stepsOf } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { accountArea, AccountPage, accountPaths } from './account-page.tsx'
import { signInWords } from '../sign-in-words.tsx'

const passkeyForm = formOf({ name: text, passkey: secretText })

/** Adding and removing the passkeys of the person who is signed in. */
export const passkeyRoutes = routes(() => [
  formPage(accountPaths.addPasskey, {
    by: 'user',
    // Before the browser makes a passkey: after it, an answer that is not taken would leave one that works nowhere.
    effect: 'sets up a second factor',
    form: passkeyForm,
    show: showAdd,
    act: async ({ visit, fields }) => {
      const response = registrationIn(fields.passkey)
      const readChallenge = challengeReader(challengeOf(visit))
      const codes = await visit.asOwner().do(addPasskey, { response, name: fields.name, readChallenge })
      return codes.length === 0
        ? seeOther(`${accountPaths.factors}?done=passkey_added`)
        : showOnce(visit, accountPaths.newCodes, codes.join('\n'), { return_to: accountPaths.factors })
    },
  }),
  passkeyRemoval.routes,
])

/** The steps about second factors lead back to the list of them. */
export const ofFactors = stepsOf({
  area: accountArea,
  root: '/account/factors',
  find: async () => null,
  back: () => ({ href: accountPaths.factors, name: 'Second factors' }),
})

export const passkeyRemoval = ofFactors('passkeys/:id/remove', {
  link: ['Remove'],
  effect: 'weakens the sign-in',
  form: emptyForm,
  ask: async (visit, _, { id }) => {
    const { door, userId } = visit
    const { passkeys, totp } = await factorsOf(door.platform, userId)
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
  act: async ({ visit }, { id }) => {
    await visit.asOwner().do(removeFactor, { kind: 'passkey', id })
    return 'passkey_removed'
  },
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
          <Field
            label="Name"
            name="name"
            hint="Helps you tell your passkeys apart, such as the name of the device."
            input={{ required: true, maxLength: 200, value: browser }}
          />
          <p class="muted">Your browser then asks you to choose where the passkey is kept.</p>
          <SendOrCancel button="Add the passkey" back={accountPaths.factors} />
        </PasskeyForm>
      )}
    </AccountPage>,
  )
}

type PasskeyRowProps = { readonly visit: Visit; readonly passkey: Factors['passkeys'][number] }

export const PasskeyRow = ({ visit, passkey: { id, name, createdAt, lastUsedAt } }: PasskeyRowProps) => (
  <Row
    avatar={<IconTile name="key" />}
    title={<bdi>{name}</bdi>}
    facts={[
      'Passkey',
      <>
        Added <Time at={createdAt} />
      </>,
      lastUsedAt === null ? (
        'Not used yet'
      ) : (
        <>
          Last used <Time at={lastUsedAt} />
        </>
      ),
    ]}
    actions={
      <StepButton visit={visit} step={passkeyRemoval} of={null} params={{ id }} look="small">
        {' '}
        the passkey {name}
      </StepButton>
    }
  />
)

export const AddPasskeyRow = ({ visit }: { readonly visit: Visit }) => (
  <Row
    avatar={<IconTile name="key" />}
    title="Passkeys"
    facts={[
      'Your fingerprint, face or PIN, or a security key.',
      visit.session.user.hasPassword ? 'It also signs you in without your password.' : null,
    ]}
    actions={
      <a class="button small" href={accountPaths.addPasskey}>
        Add<span class="unseen"> a passkey</span>
      </a>
    }
  />
)
