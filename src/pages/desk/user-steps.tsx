import { mayUsePassword } from '../../domain/sign-in-rules.ts'
import { endUserAccess } from '../../operations/end-access.ts'
import { resetFactors } from '../../operations/factors/change-factors.ts'
import { appTokensOf, liveSessionsOf, reachOf } from '../../operations/reach.ts'
import { type InspectedUser, inspectUser } from '../../operations/users/find-user.ts'
import { confirmUser, createResetLink, isForSomebodyElse, ownPassword } from '../../operations/users/passwords.ts'
import { type AppsChoice, setUserStatus } from '../../operations/users/set-user-status.ts'
import { leavesAnOperator, ownRights, setOperator } from '../../operations/users/users.ts'
import { ChoiceList, ChoiceSet, Field } from '../design/field.tsx'
import { ChosenName } from '../design/values.tsx'
import { formOf, optionalText } from '../form.ts'
import { showOnce } from '../secret-page.tsx'
import { stepsOf } from '../step.tsx'
import { deskArea, userPath } from './desk-page.tsx'

const ofUser = stepsOf({
  area: deskArea,
  root: '/desk/users/:id',
  find: async ({ door }, { id }) => await inspectUser(door.platform, id),
  belongsTo: ({ email }) => email,
})

const Name = ({ user: { name, email } }: { readonly user: InspectedUser }) => (
  <>
    <ChosenName name={name} /> ({email})
  </>
)

const isDisabled = 'This user is disabled.'

const sessionsEnd = ['session ends', 'sessions end'] as const

export const hasFactors = ({ factors: { totp, passkeys } }: InspectedUser): boolean =>
  totp !== null || passkeys.length > 0

const confirmation = ofUser('confirm', {
  link: ['Let this user sign in again', 'They were suspended because data was lost.'],
  unless: ({ suspendedAt }) => (suspendedAt === null ? 'This user is not suspended.' : null),
  effect: 'gives a way to sign in',
  ask: (_, user) => ({
    title: 'Let this user sign in again?',
    says: (
      <>
        <p>
          <Name user={user} /> is suspended because data was lost, and cannot sign in in any way. Their password and
          second factors may have been changed, and their operator rights removed, in the lost time.
        </p>
        <p>Do it only if all are still as they should be. Otherwise create a reset link.</p>
      </>
    ),
    button: 'Let them sign in',
    tone: 'harmless',
  }),
  act: async ({ visit }, { id }) => await visit.asOperator().do(confirmUser, { userId: id }),
  done: { confirm: 'The user can sign in again.' },
})

/** If the form is sent twice, the link of the later request is the one that works. */
const resetLink = ofUser('reset-link', {
  link: ({ hasPassword }) =>
    hasPassword
      ? ['Create a reset link', 'With it they set a new password. The old one works until then.']
      : ['Create a link to set a password', 'They have no password yet.'],
  unless: ({ id, status, isOperator }, { door, userId }) => {
    if (id === userId) return ownPassword
    if (status !== 'active') return isDisabled
    return mayUsePassword(door.platform.signIn, isOperator) ? null : 'This user does not sign in with a password here.'
  },
  effect: 'gives a way to sign in',
  ask: (_, { name, email }) => ({
    title: 'Create a reset link?',
    says: (
      <p>
        The next page shows the link once. It lets <ChosenName name={name} />, {email}, set a new password within 24
        hours. Their sessions end when they use it. Second factors stay. Earlier links stop working at once.
      </p>
    ),
    button: 'Create the link',
    tone: 'harmless',
  }),
  act: async ({ visit }, { id }) => {
    const { link } = await visit.asOperator({ may: isForSomebodyElse(id) }).do(createResetLink, id)
    return showOnce(visit, userPath(id, 'new-link'), link)
  },
  done: {},
})

const factorReset = ofUser('reset-factors', {
  link: ['Reset the second factors', 'For a user who has lost them. Their sessions end.'],
  unless: (user, { userId }) => {
    if (user.id === userId) return ownFactors
    return hasFactors(user) ? null : 'This user has no second factors.'
  },
  effect: 'weakens the sign-in',
  ask: async ({ door }, user, { id }) => ({
    title: 'Reset the second factors of this user?',
    says: (
      <>
        <p>
          Do this when <Name user={user} /> has lost their second factors, and only after you have verified that the
          request comes from them.
        </p>
        <p>
          Their authenticator app, passkeys and recovery codes stop working, and their sessions end. Then they can sign
          in without a second factor. If a second factor is required of them, they set up a new one then.
        </p>
      </>
    ),
    counts: [[await liveSessionsOf(door.platform, id), ...sessionsEnd]],
    button: 'Reset the second factors',
  }),
  act: async ({ visit }, { id }) =>
    await visit.asOperator({ may: isForSomebodyElse(id, ownFactors) }).do(resetFactors, { userId: id }),
  done: { 'reset-factors': 'The second factors of the user are reset, and their sessions have ended.' },
})

const ownFactors = 'You cannot reset your own second factors here: see Account, Second factors.'

const accessEnd = ofUser('end-access', {
  link: ['End all access', 'Their sessions end, and every app loses the access that they gave it.'],
  unless: ({ id }, { userId }) => (id === userId ? ownAccess : null),
  effect: 'takes away',
  ask: async ({ door: { platform } }, user, { id }) => {
    const reach = await reachOf(platform, { kind: 'user', userId: id })
    return {
      title: 'End all access of this user?',
      says: (
        <p>
          <Name user={user} /> is signed out everywhere, and every app loses the access that they gave it. Their
          password stays valid: they can sign in and allow apps again. Their own apps do not change.
        </p>
      ),
      counts: [
        [await liveSessionsOf(platform, id), ...sessionsEnd],
        [reach.apps, 'app loses its access to their data', 'apps lose their access to their data'],
        [reach.embeddedSessions, 'open page of an app closes', 'open pages of apps close'],
      ],
      button: 'End all access',
    }
  },
  act: async ({ visit }, { id }) =>
    await visit.asOperator({ may: isForSomebodyElse(id, ownAccess) }).do(endUserAccess, { userId: id }),
  done: { 'end-access': 'All access of the user has ended. The audit log lists what ended.' },
})

const ownAccess = 'You cannot end your own access here: see Account, Sessions and Connected apps.'

const Person = ({ user: { name, email } }: { readonly user: InspectedUser }) => (
  <p>
    <ChosenName name={name} />, {email}
  </p>
)

const promotion = ofUser('make-operator', {
  link: ['Make them an operator', 'They can then do everything that you can do here.'],
  unless: ({ isOperator }) => (isOperator ? 'This user is an operator.' : null),
  effect: 'gives a right',
  ask: (_, user) => ({
    title: 'Make this user an operator?',
    says: (
      <>
        <Person user={user} />
        <p>
          They can then do everything that you can do here: review versions, suspend apps, disable users, and make other
          operators.
        </p>
      </>
    ),
    button: 'Make them an operator',
  }),
  act: async ({ visit }, { id }) => await visit.asOperator().do(setOperator, { userId: id, isOperator: true }),
  done: { 'make-operator': 'The user is now an operator.' },
})

const withdrawal = ofUser('withdraw-operator', {
  link: ['Remove operator rights', 'They keep their account and their apps.'],
  unless: ({ id, isOperator }, { userId }) => {
    if (id === userId) return ownRights
    return isOperator ? null : 'This user is no operator.'
  },
  effect: 'takes away',
  ask: (_, user) => ({
    title: 'Remove operator rights?',
    says: (
      <>
        <Person user={user} />
        <p>They can no longer use the desk. They keep their account and their apps.</p>
      </>
    ),
    button: 'Remove operator rights',
  }),
  act: async ({ visit }, { id }) =>
    await visit.asOperator({ may: leavesAnOperator(id) }).do(setOperator, { userId: id, isOperator: false }),
  done: { 'withdraw-operator': 'The user is no longer an operator.' },
})

/** What happens to the apps of a user who is disabled, and the new owner's address. The form of a user without apps has neither. */
const disableForm = formOf({ apps: optionalText, to: optionalText })

const choices = [
  ['suspend', 'Suspend their apps', 'They stop working until an operator activates them.'],
  ['keep', 'Keep their apps', 'They keep working without an active owner.'],
  ['transfer', 'Transfer their apps', 'Another active user becomes the owner.'],
] as const

/** The operator decides about the user's apps in the same step, because nothing else would stop them. */
const disabling = ofUser('disable', {
  link: ['Disable this user', 'They cannot sign in, and apps can no longer act for them.'],
  unless: ({ id, status }, { userId }) => {
    if (id === userId) return 'You cannot disable yourself: ask another operator.'
    return status === 'active' ? null : isDisabled
  },
  effect: 'gives an app to somebody',
  form: disableForm,
  types: ({ isOperator, email }) => (isOperator ? email : null),
  ask: async ({ door: { platform } }, user, { id }) => {
    const reach = await reachOf(platform, { kind: 'user', userId: id })
    return {
      title: 'Disable this user?',
      says: (
        <p>
          The sessions of <ChosenName name={user.name} />, {user.email}, end at once, and apps can no longer act for
          them. Nothing is deleted. If you enable them again, everything that has not expired works again.
        </p>
      ),
      counts: [
        [await liveSessionsOf(platform, id), ...sessionsEnd],
        [reach.apps, 'app can no longer act for them', 'apps can no longer act for them'],
        [reach.userTokens, 'user token stops working', 'user tokens stop working'],
        [user.apps.length, 'app belongs to them', 'apps belong to them'],
        [
          await appTokensOf(platform, { apps: user.apps.map(({ appId }) => appId) }),
          'app token of these apps',
          'app tokens of these apps',
        ],
      ],
      button: 'Disable the user',
      fields: user.apps.length === 0 ? null : <AppsOfUser />,
    }
  },
  // An operator must remain: `leavesAnOperator` refuses to disable oneself or the last operator.
  act: async ({ visit, fields }, { id }) => {
    const apps = appsChoice(fields.apps ?? '', fields.to ?? '')
    const desk = visit.asOperator({ may: leavesAnOperator(id) })
    const disabled = await desk.do(setUserStatus, { userId: id, status: 'disabled', apps })
    return disabled.apps.transferred.length === 0 ? 'disable' : 'disable-transfer'
  },
  done: {
    disable: 'The user is disabled and signed out. The audit log lists what ended.',
    'disable-transfer':
      'The user is disabled and signed out. Their apps have a new owner. The previous owner may know the secrets of these apps: ask the new owner to rotate them.',
  },
})

const AppsOfUser = () => (
  <ChoiceSet legend="Their apps" name="apps">
    <ChoiceList type="radio" name="apps" options={choices} chosen={['suspend']} />
    <Field label="New owner’s email address" name="to" input={{ type: 'email' }} />
  </ChoiceSet>
)

/** The choice in the form; anything unknown is the default, which takes the most access away. */
const appsChoice = (apps: string, email: string): AppsChoice => {
  if (apps === 'transfer') return { kind: 'transfer', email }
  return { kind: apps === 'keep' ? 'keep' : 'suspend' }
}

/** What an operator does about the access and the rights of a user, in the order of the links to it. */
export const userSteps = [confirmation, resetLink, factorReset, accessEnd, promotion, withdrawal, disabling]
