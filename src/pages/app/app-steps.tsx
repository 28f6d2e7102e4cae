import { mayInActiveApp, mayInApp } from '../../operations/acting-as.ts'
import { deleteApp, setAppStatus, transferApp } from '../../operations/apps/apps.ts'
import { inspectApp } from '../../operations/apps/lists.ts'
import { inviteMember } from '../../operations/apps/members.ts'
import { endAppAccess } from '../../operations/end-access.ts'
import { appTokensOf, reachOf } from '../../operations/reach.ts'
import type { Affected } from '../design/confirmation.tsx'
import { email, Fields } from '../design/field.tsx'
import { ChosenName } from '../design/values.tsx'
import { formOf } from '../form.ts'
import { seeOther } from '../page.ts'
import { acting, type AppVisit, type AtApp, consolePath, stepsOfApp, whyNot } from './app-area.tsx'
import { showInvitation } from './members.tsx'

// What ends an app or hands it over. Members offer it to somebody, who can accept; operators give it to them.

const ofMembers = stepsOfApp(['console'])
const ofOperators = stepsOfApp(['desk'])

const Name = ({ at: { app } }: AtApp) => (
  <>
    <ChosenName name={app.name} /> (<code>{app.slug}</code>)
  </>
)

/** What was issued for the app and works now. */
const accessOf = async ({ visit: { door }, app: { id } }: AppVisit): Promise<readonly Affected[]> => {
  const reach = await reachOf(door.platform, { kind: 'app', appId: id })
  return [
    [reach.users, 'user has allowed this app', 'users have allowed this app'],
    [reach.grants, 'grant ends', 'grants end'],
    [await appTokensOf(door.platform, { apps: [id] }), 'app token ends', 'app tokens end'],
    [reach.embeddedSessions, 'open page of this app closes', 'open pages of this app close'],
  ]
}

const transferForm = formOf({ email: email('New publisher’s email address') })

const transferOffer = ofMembers('transfer', {
  link: ['Transfer the app', 'Another person becomes its publisher. You stay an owner.'],
  unless: (at) => whyNot(at, 'transfer', true),
  effect: 'gives an app to somebody',
  form: transferForm,
  ask: ({ door }, at) => ({
    title: 'Transfer this app?',
    says: (
      <>
        <p>
          The next page shows a link to send to the new publisher
          {door.platform.mailer === null ? '' : ', and they also receive one by email'}. When they accept, users see
          their name as the publisher of <bdi>{at.app.name}</bdi>, and the app counts towards their quota. Until then
          nothing changes.
        </p>
        <p>
          The present publisher stays an owner until they leave or are removed. Secrets, tokens and grants stay valid.
        </p>
      </>
    ),
    button: 'Create the invitation',
    tone: 'harmless',
    fields: <Fields of={transferForm} />,
  }),
  act: async ({ visit, fields, ticket }, _, { slug }) => {
    const input = { slug, email: fields.email, role: 'publisher', invitedBy: visit.userId } as const
    const made = await acting(visit, mayInActiveApp(slug, 'transfer'), ticket).do(inviteMember, input)
    return showInvitation(visit, slug, made)
  },
  done: {},
})

const givingForm = formOf({ to: email('New owner’s email address') })

const transfer = ofOperators('transfer', {
  link: ['Transfer this app', 'Another active user becomes its owner. Secrets, tokens and users stay.'],
  effect: 'gives an app to somebody',
  form: givingForm,
  ask: async ({ door }, at) => {
    const { owner } = await inspectApp(door.platform, at.app.slug)
    return {
      title: 'Transfer this app?',
      says: (
        <p>
          <Name at={at} /> leaves <bdi>{owner.name}</bdi> ({owner.email}) and belongs to another active user at once.
          Its secrets stay valid, and the previous owner may know them. Rotate them afterwards.
        </p>
      ),
      fields: <Fields of={givingForm} />,
      button: 'Transfer this app',
      tone: 'harmless',
    }
  },
  act: async ({ visit, fields }, _, { slug }) =>
    await acting(visit, mayInApp(slug, 'transfer')).do(transferApp, { slug, email: fields.to }),
  done: { transferred: 'The app has a new owner. The previous owner may know its secrets. Rotate them.' },
})

const suspension = ofOperators('suspend', {
  link: ['Suspend this app', 'Its secrets and tokens stop working until you activate it again.'],
  unless: ({ app }) => (app.status === 'active' ? null : 'This app is suspended.'),
  effect: 'takes away',
  ask: async ({ door: { platform } }, { app }) => {
    const { users, userTokens } = await reachOf(platform, { kind: 'app', appId: app.id })
    const { installs } = await inspectApp(platform, app.slug)
    const active = installs.filter(({ state }) => state === 'active')
    return {
      title: 'Suspend this app?',
      says: (
        <p>
          All secrets and tokens of <ChosenName name={app.name} /> stop working at once, and nobody can sign in to it.
          Nothing is deleted. If you activate the app again, everything that has not expired by then works again.
        </p>
      ),
      counts: [
        [users, 'user has given it access', 'users have given it access'],
        [userTokens, 'user token stops working', 'user tokens stop working'],
        [await appTokensOf(platform, { apps: [app.id] }), 'app token stops working', 'app tokens stop working'],
        [active.reduce((total, { count }) => total + count, 0), 'active install stops', 'active installs stop'],
      ],
      button: 'Suspend the app',
    }
  },
  act: async ({ visit }, _, { slug }) =>
    await acting(visit, mayInApp(slug, 'settings')).do(setAppStatus, { slug, status: 'suspended' }),
  done: { suspended: 'The app is suspended. Its secrets and tokens have stopped working.' },
})

const accessEnd = ofOperators('end-access', {
  link: ['End all access', 'Every grant, session and token of the app ends. Users have to consent again.'],
  effect: 'takes away',
  types: ({ app }) => app.slug,
  ask: async (_, at) => ({
    title: 'End all access of this app?',
    says: (
      <p>
        All tokens and grants of <Name at={at} /> are revoked at once, and users have to consent again. Its client
        secrets stay valid, so it can ask for new app tokens. To stop it altogether, suspend it.
      </p>
    ),
    counts: await accessOf(at),
    button: 'End all access',
  }),
  act: async ({ visit }, _, { slug }) => await acting(visit, mayInApp(slug, 'settings')).do(endAppAccess, slug),
  done: {
    'end-access': 'All access of the app has ended, as listed in the audit log. Its client secrets stay valid.',
  },
})

const deletion = stepsOfApp(['console', 'desk'])('delete', {
  link: ['Delete the app', 'It disappears for all members and users at once, and after 7 days it is removed.'],
  effect: 'destroys an app',
  types: ({ app }) => app.slug,
  unless: (at) => whyNot(at, 'delete'),
  ask: async (_, at) => ({
    title: 'Delete this app?',
    says: (
      <p>
        <Name at={at} /> disappears for all members and users at once, and all its tokens and grants are revoked. For 7
        days {at.as === 'operator' ? 'you' : 'an operator'} can restore it, without these tokens and grants. Then it is
        removed for good, except for its audit log. Until then its slug stays reserved.
      </p>
    ),
    counts: await accessOf(at),
    button: 'Delete this app',
  }),
  act: async ({ visit }, _, { slug }) => {
    await acting(visit, mayInApp(slug, 'delete')).do(deleteApp, slug)
    return visit.call.path.startsWith(consolePath) ? seeOther(`${consolePath}?done=deleted`) : 'deleted'
  },
  done: { deleted: 'The app is deleted. It can be restored for 7 days.' },
})

/** What owners can do about an app, in the order of the links to it. */
export const ownerSteps = [transferOffer, deletion]

/** The same for operators. */
export const operatorSteps = [transfer, suspension, accessEnd, deletion]

export const appSteps = [transferOffer, ...operatorSteps]
