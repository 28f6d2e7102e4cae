import { forgetCookie } from '../../http/cookies.ts'
import { refuse } from '../../domain/errors.ts'
import { endingStep } from '../../domain/install.ts'
import {
  authorizedAt,
  type ConnectedApp,
  endInstallAndAccess,
  listConnectedApps,
  revokeConnectedApps,
} from '../../operations/connected-apps.ts'
import { endInstall, ownsInstall } from '../../operations/installs/installs.ts'
import { type DescribedInstall, describeInstall, listOpenInstalls } from '../../operations/installs/lists.ts'
import { revokeByUser } from '../../operations/oauth/revoke.ts'
import { liveSessionsOf } from '../../operations/reach.ts'
import {
  endEverySession,
  endOtherSessions,
  endSession,
  findOwnSession,
} from '../../operations/sessions/own-sessions.ts'
import { Choice } from '../design/field.tsx'
import { ChosenName, Time } from '../design/values.tsx'
import { formOf, optionalText } from '../form.ts'
import { seeOther } from '../page.ts'
import { stepsOf } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { resourceKindInSentence } from '../words.ts'
import { accountArea, accountPaths, appsArea } from './account-page.tsx'

// Everything that a person can end in their account.

export const findConnectedApp = async ({ door, session }: Visit, clientId: string): Promise<ConnectedApp | null> =>
  (await listConnectedApps(door.platform, session)).find((app) => app.clientId === clientId) ?? null

const cannotAct = 'This app cannot act for you.'

/** Whether an install is of the same app, in the same environment. */
export const isOf =
  (one: Pick<ConnectedApp, 'appId' | 'environment'>) =>
  (other: typeof one): boolean =>
    one.appId === other.appId && one.environment === other.environment

const connectedApps = () => ({ href: accountPaths.apps, name: 'Connected apps' })

/** A ticked box that ends what else the app has of this person; nothing if it has nothing else. */
const alsoForm = formOf({ also: optionalText })
type AlsoProps = { readonly of: readonly [count: number, one: string, many: string]; readonly children: string }
const Also = ({ of: [count, one, many], children }: AlsoProps) =>
  count === 0 ? null : (
    <Choice type="checkbox" name="also" value="yes" checked about={`${count} ${count === 1 ? one : many}.`}>
      {children}
    </Choice>
  )

export const revocation = stepsOf({
  area: appsArea,
  root: '/account/apps/:clientId',
  find: async (visit, { clientId }) => await findConnectedApp(visit, clientId),
  back: connectedApps,
})('revoke', {
  link: ['Revoke access'],
  effect: 'takes away',
  form: alsoForm,
  ask: async (visit, app) =>
    app === null
      ? cannotAct
      : {
          title: 'Revoke the access of this app?',
          says: (
            <p>
              <ChosenName name={app.name} /> ({app.environment}) can then do nothing for you, on any device, until you
              allow it again. It may keep what it has already read.
            </p>
          ),
          counts: [[app.authorizations, 'authorization ends', 'authorizations end']],
          button: 'Revoke access',
          fields: (
            <Also of={[await installsOf(visit, app), 'install ends', 'installs end']}>Also uninstall the app</Also>
          ),
        },
  act: async ({ visit, fields }, _, { clientId }) => {
    const uninstalls = fields.also === 'yes'
    await visit.asOwner().do(revokeConnectedApps, { kind: 'one', clientId, uninstalls })
    return uninstalls ? 'revoked-uninstalled' : 'revoked'
  },
  done: {
    revoked: 'Access revoked. All tokens of this app have stopped working.',
    'revoked-uninstalled': 'Access revoked, and the app is uninstalled.',
  },
})

export const revocationOfAll = stepsOf({
  area: appsArea,
  root: '/account/apps',
  find: async ({ door, session }) => await listConnectedApps(door.platform, session),
  back: connectedApps,
})('revoke-all', {
  link: ['Revoke access of every app'],
  unless: (apps) => (apps.length === 0 ? 'No app can act for you.' : null),
  effect: 'takes away',
  types: (_, { session }) => session.user.email,
  ask: (_, apps) => {
    const authorizations = apps.reduce((total, app) => total + app.authorizations, 0)
    return {
      title: 'Revoke the access of every app?',
      says: (
        <p>
          No app can act for you on any device until you allow it again. You stay signed in, and the apps that you
          develop do not change.
        </p>
      ),
      counts: [
        [apps.length, 'app loses its access', 'apps lose their access'],
        [authorizations, 'authorization ends', 'authorizations end'],
      ],
      button: 'Revoke access of every app',
    }
  },
  act: async ({ visit }) => await visit.asOwner().do(revokeConnectedApps, { kind: 'all' }),
  done: { 'revoked-all': 'Access revoked for every app. All their tokens have stopped working.' },
})

export const authorizationEnd = stepsOf({
  area: appsArea,
  root: '/account/apps/:clientId',
  find: async (visit, { clientId }) => await findConnectedApp(visit, clientId),
  belongsTo: (app) => app?.name ?? 'Connected apps',
  back: ({ clientId }, app) => (app === null ? connectedApps() : { href: `/account/apps/${clientId}` }),
})('authorizations/:grantId/revoke', {
  link: ['Revoke this authorization'],
  effect: 'takes away',
  ask: async ({ door, session }, app, { clientId, grantId }) =>
    app === null
      ? cannotAct
      : {
          title: 'Revoke this authorization?',
          says: (
            <p>
              It was given <Time at={await authorizedAt(door.platform, session, clientId, grantId)} />. On the device or
              browser where you gave it, <ChosenName name={app.name} /> can do nothing for you until you allow it again.
            </p>
          ),
          counts: [
            [1, 'authorization ends', ''],
            [app.authorizations - 1, 'other authorization stays', 'other authorizations stay'],
          ],
          button: 'Revoke the authorization',
        },
  act: async ({ visit }, _, { clientId, grantId }) => {
    await visit.asOwner().do(revokeByUser, grantId)
    const isConnected = (await findConnectedApp(visit, clientId)) !== null
    return isConnected ? 'revoked-one' : seeOther(`${accountPaths.apps}?done=revoked`)
  },
  done: { 'revoked-one': 'This authorization is revoked. All its tokens have stopped working.' },
})

const ofSessions = stepsOf({
  area: accountArea,
  root: '/account/sessions',
  find: async ({ door, userId }) => await liveSessionsOf(door.platform, userId),
  back: () => ({ href: accountPaths.sessions, name: 'Sessions' }),
})

/** Whoever had the session may have asked for the links. */
const unused = 'Links that you have been sent and have not used stop working. Connected apps stay connected.'

export const sessionEnd = ofSessions(':key/end', {
  link: ['End session'],
  effect: 'takes away',
  ask: async ({ door, session }, _, { key }) => {
    const { agent, address, createdAt } = await findOwnSession(door.platform, session, key)
    return {
      title: 'End this session?',
      says: (
        <p>
          <ChosenName name={agent ?? 'Unknown browser'} />, signed in from {address} <Time at={createdAt} />, is signed
          out at once. {unused}
        </p>
      ),
      button: 'End session',
    }
  },
  act: async ({ visit }, _, { key }) => {
    await visit.asOwner().do(endSession, key)
    return key === visit.session.sessionKey ? signedOut(visit) : 'ended'
  },
  done: { ended: 'The session has ended. Its browser has to sign in again.' },
})

const signedOut = ({ door }: Visit): Response => seeOther('/signed-out', [forgetCookie(door, 'session')])

export const otherSessionsEnd = ofSessions('end-others', {
  link: ['End all other sessions'],
  unless: ({ count }) => (count > 1 ? null : 'You are signed in here and nowhere else.'),
  effect: 'takes away',
  ask: (_, { count, exact }) => ({
    title: 'End all other sessions?',
    says: <p>All other browsers are signed out at once. {unused}</p>,
    counts: [[{ count: count - 1, exact }, 'other session ends', 'other sessions end']],
    button: 'End all other sessions',
  }),
  act: async ({ visit }) => await visit.asOwner().do(endOtherSessions),
  done: { 'ended-others': 'Every other session has ended.' },
})

export const everySessionEnd = ofSessions('end-all', {
  link: ['Sign out everywhere'],
  effect: 'takes away',
  ask: (_, sessions) => ({
    title: 'Sign out everywhere?',
    says: <p>Every browser is signed out at once, including this one. {unused}</p>,
    counts: [[sessions, 'session ends', 'sessions end']],
    button: 'Sign out everywhere',
  }),
  act: async ({ visit }) => {
    await visit.asOwner().do(endEverySession)
    return signedOut(visit)
  },
  done: {},
})

export const uninstall = stepsOf({
  area: appsArea,
  root: '/installs/:id',
  find: async ({ door, userId }, { id }): Promise<EndingInstall> => {
    const install = await describeInstall(door.platform, id)
    if (install.userId !== userId) throw refuse('route_not_found')
    return install
  },
  back: () => ({ href: accountPaths.installs, name: 'Installs' }),
})('end', {
  link: (install) => [endingStep(install) === 'withdraw' ? 'Withdraw' : 'Uninstall'],
  unless: (install) => (endingStep(install) === null ? 'This install has ended.' : null),
  effect: 'takes away',
  form: alsoForm,
  ask: async (visit, install) => {
    const isPending = endingStep(install) === 'withdraw'
    return {
      title: isPending ? 'Withdraw this install?' : 'Uninstall this app?',
      says: (
        <p>
          <ChosenName name={install.appName} /> {isPending ? 'will not be installed on' : 'is removed at once from'}{' '}
          your {resourceKindInSentence(install.kind)} <code>{install.resource}</code>
          {isPending ? '' : ', and loses the access that this install gave it'}. You can install it again.
        </p>
      ),
      button: isPending ? 'Withdraw' : 'Uninstall',
      fields: (
        <Also of={[await authorizationsOf(visit, install), 'authorization ends', 'authorizations end']}>
          Also end its access to your account
        </Also>
      ),
    }
  },
  act: async ({ visit, fields }, _, { id }) => {
    const end = fields.also === 'yes' ? endInstallAndAccess : endInstall
    return await visit.as(ownsInstall(id)).do(end, id)
  },
  done: {
    withdraw: 'The install is withdrawn.',
    deactivate: 'The app is uninstalled. It no longer has the access that this install gave it.',
  },
})

type InEnvironment = Parameters<typeof isOf>[0]
/** What the pages with a link know of an install. */
type EndingInstall = InEnvironment &
  Parameters<typeof endingStep>[0] &
  Pick<DescribedInstall, 'appName' | 'kind' | 'resource'>

const installsOf = async ({ door, userId }: Visit, app: InEnvironment): Promise<number> =>
  (await listOpenInstalls(door.platform, userId)).filter(isOf(app)).length

const authorizationsOf = async ({ door, session }: Visit, install: InEnvironment): Promise<number> =>
  (await listConnectedApps(door.platform, session)).find(isOf(install))?.authorizations ?? 0

/** Every one of them. */
export const accountSteps = [
  revocation,
  revocationOfAll,
  authorizationEnd,
  sessionEnd,
  otherSessionsEnd,
  everySessionEnd,
  uninstall,
]
