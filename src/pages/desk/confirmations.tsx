import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { setAppStatus } from '../../operations/apps/apps.ts'
import { inspectApp } from '../../operations/apps/lists.ts'
import { describeInstall } from '../../operations/installs/lists.ts'
import { moveInstall } from '../../operations/installs/installs.ts'
import { appTokensOf, liveSessionsOf, reachOf } from '../../operations/reach.ts'
import { leavesAnOperator, setOperator } from '../../operations/users/users.ts'
import { inspectUser } from '../../operations/users/find-user.ts'
import { createResetLink, isForSomebodyElse } from '../../operations/users/passwords.ts'
import { type AppsChoice, setUserStatus } from '../../operations/users/set-user-status.ts'
import { confirmed } from '../confirmation.tsx'
import { Choice, ChoiceSet, Field } from '../design/field.tsx'
import { ChosenName } from '../design/values.tsx'
import { emptyForm, formOf, optionalText, outcomeOf } from '../form.ts'
import { seeOther } from '../page.ts'
import { showOnce } from '../shown-once.ts'
import { requireOperator } from '../visit.ts'
import { resourceKindInSentence } from '../words.ts'
import { deskArea, deskAppPath, deskPaths, tooLate, userPath } from './desk-page.tsx'
import { newLinkPath } from './new-user.tsx'
import { rejectionRoutes } from './decisions.tsx'

const installs = () => ({ href: deskPaths.installs, name: 'Installs' })
const userOf = ({ id }: { readonly id: string }) => ({ href: userPath(id) })
const sessionsEnd = ['session ends', 'sessions end'] as const

/** Everything that an operator can end, and what gives or takes rights. */
export const deskConfirmations = (door: Door) =>
  new Elysia()
    // An install has no page of its own. This is what is loaded instead of an address that only takes a form.
    .get('/desk/installs/:id', async ({ request }) => {
      await requireOperator(door, request)
      return seeOther(deskPaths.installs)
    })
    .use(installConfirmation(door, 'reject'))
    .use(installConfirmation(door, 'deactivate'))
    .use(suspension(door))
    .use(disabling(door))
    .use(resetLink(door))
    .use(operatorRights(door, 'make-operator'))
    .use(operatorRights(door, 'withdraw-operator'))
    .use(rejectionRoutes(door))

const installSteps = {
  reject: {
    title: 'Reject this install?',
    says: 'Rejecting is final for this install. The user can install the app again.',
    button: 'Reject',
  },
  deactivate: {
    title: 'Deactivate this install?',
    says: 'The app loses access to this user’s data at once. The install cannot be reactivated, but the user can install the app again.',
    button: 'Deactivate',
  },
} as const

const installConfirmation = (door: Door, step: keyof typeof installSteps) =>
  confirmed(door, `/desk/installs/:id/${step}`, {
    area: deskArea,
    proof: 'none',
    form: emptyForm,
    back: installs,
    ask: async (_, { id }) => {
      const install = await describeInstall(door.platform, id)
      const { title, says, button } = installSteps[step]
      return {
        title,
        belongsTo: install.appName,
        says: (
          <>
            <p>
              <ChosenName name={install.appName} /> on the {resourceKindInSentence(install.kind)}{' '}
              <code>{install.resource}</code> of {install.user}.
            </p>
            <p>{says}</p>
          </>
        ),
        button,
      }
    },
    act: async ({ visit }, { id }, back) => {
      const moved = await outcomeOf(visit.asOperator().do(moveInstall, { id, step }))
      if (moved.kind === 'refused') throw refuse('version_not_eligible', { message: tooLate })
      return back(step)
    },
  })

const suspension = (door: Door) =>
  confirmed(door, '/desk/apps/:slug/suspend', {
    area: deskArea,
    proof: 'none',
    form: emptyForm,
    back: ({ slug }) => ({ href: deskAppPath(slug) }),
    ask: async (_, { slug }) => {
      const app = await inspectApp(door.platform, slug)
      const { users, userTokens } = await reachOf(door.platform, { kind: 'app', appId: app.id })
      const active = app.installs.filter(({ state }) => state === 'active')
      return {
        title: 'Suspend this app?',
        belongsTo: app.name,
        says: (
          <p>
            All secrets and tokens of <ChosenName name={app.name} /> stop working at once, and nobody can sign in to it.
            Nothing is deleted. If you activate the app again, everything that has not expired by then works again.
          </p>
        ),
        counts: [
          [users, 'user has given it access', 'users have given it access'],
          [userTokens, 'user token stops working', 'user tokens stop working'],
          [await appTokensOf(door.platform, { apps: [app.id] }), 'app token stops working', 'app tokens stop working'],
          [active.reduce((total, { count }) => total + count, 0), 'active install stops', 'active installs stop'],
        ],
        button: 'Suspend the app',
      }
    },
    act: async ({ visit }, { slug }, back) => {
      await inspectApp(door.platform, slug)
      await visit.asOperator().do(setAppStatus, { slug, status: 'suspended' })
      return back('suspended')
    },
  })

/** What happens to the apps of a user who is disabled, and the new owner's address. The form of a user without apps has neither. */
const disableForm = formOf({ apps: optionalText, to: optionalText })

const choices = [
  { apps: 'suspend', label: 'Suspend their apps', about: 'They stop working until an operator activates them.' },
  { apps: 'keep', label: 'Keep their apps', about: 'They keep working without an active owner.' },
  { apps: 'transfer', label: 'Transfer their apps', about: 'Another active user becomes the owner.' },
] as const

/** The operator decides about the user's apps in the same step, because nothing else would stop them. */
const disabling = (door: Door) =>
  confirmed(door, '/desk/users/:id/disable', {
    area: deskArea,
    proof: 'asked',
    form: disableForm,
    back: userOf,
    typeName: async (_, { id }) => {
      const { isOperator, email } = await inspectUser(door.platform, id)
      return isOperator ? email : null
    },
    ask: async (_, { id }) => {
      const { platform } = door
      const user = await inspectUser(platform, id)
      const reach = await reachOf(platform, { kind: 'user', userId: id })
      return {
        title: 'Disable this user?',
        belongsTo: user.email,
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
    act: async ({ visit, fields }, { id }, back) => {
      const { email } = await inspectUser(door.platform, id)
      const apps = appsChoice(fields.apps ?? '', fields.to ?? '')
      const desk = visit.asOperator({ may: leavesAnOperator(id) })
      const disabled = await desk.do(setUserStatus, { email, status: 'disabled', apps })
      return back(disabled.apps.transferred.length === 0 ? 'disable' : 'disable-transfer')
    },
  })

const AppsOfUser = () => (
  <ChoiceSet legend="Their apps" name="apps">
    {choices.map(({ apps, label, about }) => (
      <Choice key={apps} type="radio" name="apps" value={apps} checked={apps === 'suspend'} about={about}>
        {label}
      </Choice>
    ))}
    <Field label="New owner’s email address" name="to" input={{ type: 'email' }} />
  </ChoiceSet>
)

/** The choice in the form; anything unknown is the default, which takes the most access away. */
const appsChoice = (apps: string, email: string): AppsChoice => {
  if (apps === 'transfer') return { kind: 'transfer', email }
  return { kind: apps === 'keep' ? 'keep' : 'suspend' }
}

/** If the form is sent twice, the link of the later request is the one that works. */
const resetLink = (door: Door) =>
  confirmed(door, '/desk/users/:id/reset-link', {
    area: deskArea,
    proof: 'asked',
    form: emptyForm,
    back: userOf,
    ask: async (_, { id }) => {
      const user = await inspectUser(door.platform, id)
      return {
        title: 'Create a reset link?',
        belongsTo: user.email,
        says: (
          <p>
            The next page shows the link once. It lets <ChosenName name={user.name} />, {user.email}, set a new password
            within 24 hours. Their sessions end when they use it. Second factors stay. Earlier links stop working at
            once.
          </p>
        ),
        button: 'Create the link',
        tone: 'harmless',
      }
    },
    act: async ({ visit }, { id }) => {
      await inspectUser(door.platform, id)
      const { link } = await visit.asOperator({ may: isForSomebodyElse(id) }).do(createResetLink, id)
      return showOnce(visit, newLinkPath(id), link)
    },
  })

const rights = {
  'make-operator': {
    title: 'Make this user an operator?',
    says: 'They can then do everything that you can do here: review versions, suspend apps, disable users, and make other operators.',
    button: 'Make them an operator',
  },
  'withdraw-operator': {
    title: 'Remove operator rights?',
    says: 'They can no longer use the desk. They keep their account and their apps.',
    button: 'Remove operator rights',
  },
} as const

const operatorRights = (door: Door, step: keyof typeof rights) =>
  confirmed(door, `/desk/users/:id/${step}`, {
    area: deskArea,
    proof: step === 'make-operator' ? 'asked' : 'none',
    form: emptyForm,
    back: userOf,
    ask: async (_, { id }) => {
      const user = await inspectUser(door.platform, id)
      const { title, says, button } = rights[step]
      return {
        title,
        belongsTo: user.email,
        says: (
          <>
            <p>
              <ChosenName name={user.name} />, {user.email}
            </p>
            <p>{says}</p>
          </>
        ),
        button,
      }
    },
    act: async ({ visit }, { id }, back) => {
      await inspectUser(door.platform, id)
      const isOperator = step === 'make-operator'
      const desk = isOperator ? visit.asOperator() : visit.asOperator({ may: leavesAnOperator(id) })
      await desk.do(setOperator, { userId: id, isOperator })
      return back(step)
    },
  })
