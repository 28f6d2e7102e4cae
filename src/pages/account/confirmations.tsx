import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import { endingStep } from '../../domain/install.ts'
import type { Door } from '../../http/door.ts'
import { forgetCookie } from '../../http/cookies.ts'
import {
  authorizedAt,
  type ConnectedApp,
  endInstallAndAccess,
  listConnectedApps,
  revokeConnectedApps,
} from '../../operations/connected-apps.ts'
import { ownsInstall, endInstall } from '../../operations/installs/installs.ts'
import { describeInstall, listOpenInstalls } from '../../operations/installs/lists.ts'
import { revokeByUser } from '../../operations/oauth/revoke.ts'
import { liveSessionsOf } from '../../operations/reach.ts'
import {
  endEverySession,
  endOtherSessions,
  endSession,
  findOwnSession,
} from '../../operations/sessions/own-sessions.ts'
import { confirmed } from '../confirmation.tsx'
import { Choice } from '../design/field.tsx'
import { ChosenName, Time } from '../design/values.tsx'
import { emptyForm, formOf, optionalText } from '../form.ts'
import { seeOther } from '../page.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { resourceKindInSentence } from '../words.ts'
import {
  accountArea,
  accountPaths,
  connectedAppPath,
  endInstallPath,
  endSessionPath,
  revokeAppPath,
  revokeAuthorizationPath,
} from './account-page.tsx'
import { findConnectedApp, isOf } from './connected-apps.tsx'

const connectedApps = () => ({ href: accountPaths.apps, name: 'Connected apps' })
const sessions = () => ({ href: accountPaths.sessions, name: 'Sessions' })
const installs = () => ({ href: accountPaths.installs, name: 'Installs' })

/** Whoever had the session may have asked for the links. */
const unused = 'Links that you have been sent and have not used stop working. Connected apps stay connected.'

/** Everything that a person can end in their account. */
export const accountConfirmations = (door: Door) =>
  new Elysia()
    // An install has no page of its own. This is what is loaded instead of an address that only takes a form.
    .get('/installs/:id', async ({ request }) => {
      await requireVisit(door, request)
      return seeOther(accountPaths.installs)
    })
    .use(
      confirmed(door, revokeAppPath(':clientId'), {
        area: accountArea,
        proof: 'none',
        form: alsoForm,
        back: connectedApps,
        ask: async (visit, { clientId }) => {
          const app = await connectedApp(visit, clientId)
          return {
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
          }
        },
        act: async ({ visit, fields }, { clientId }, back) => {
          const uninstalls = fields.also === 'yes'
          await visit.asOwner().do(revokeConnectedApps, { kind: 'one', clientId, uninstalls })
          return back(uninstalls ? 'revoked-uninstalled' : 'revoked')
        },
      }),
    )
    .use(
      confirmed(door, accountPaths.revokeAll, {
        area: accountArea,
        proof: 'none',
        form: emptyForm,
        back: connectedApps,
        typeName: async ({ session }) => session.user.email,
        ask: async (visit) => {
          const apps = await listConnectedApps(door.platform, visit.session)
          const authorizations = apps.reduce((total, app) => total + app.authorizations, 0)
          return {
            title: 'Revoke the access of every app?',
            says: (
              <p>
                No app can act for you on any device until you allow it again. You stay signed in, and your own apps in
                the console do not change.
              </p>
            ),
            counts: [
              [apps.length, 'app loses its access', 'apps lose their access'],
              [authorizations, 'authorization ends', 'authorizations end'],
            ],
            button: 'Revoke access of every app',
          }
        },
        act: async ({ visit }, _, back) => {
          await visit.asOwner().do(revokeConnectedApps, { kind: 'all' })
          return back('revoked-all')
        },
      }),
    )
    .use(
      confirmed(door, revokeAuthorizationPath(':clientId', ':grantId'), {
        area: accountArea,
        proof: 'none',
        form: emptyForm,
        back: ({ clientId }) => ({ href: connectedAppPath(clientId) }),
        ask: async (visit, { clientId, grantId }) => {
          const app = await connectedApp(visit, clientId)
          const since = await authorizedAt(door.platform, visit.session, clientId, grantId)
          return {
            title: 'Revoke this authorization?',
            belongsTo: app.name,
            says: (
              <p>
                It was given <Time at={since} />. On the device or browser where you gave it,{' '}
                <ChosenName name={app.name} /> can do nothing for you until you allow it again.
              </p>
            ),
            counts: [
              [1, 'authorization ends', ''],
              [app.authorizations - 1, 'other authorization stays', 'other authorizations stay'],
            ],
            button: 'Revoke the authorization',
          }
        },
        act: async ({ visit }, { clientId, grantId }, back) => {
          await visit.asOwner().do(revokeByUser, grantId)
          const isConnected = (await findConnectedApp(visit, clientId)) !== null
          return isConnected ? back('revoked-one') : seeOther(`${accountPaths.apps}?done=revoked`)
        },
      }),
    )
    .use(
      confirmed(door, endSessionPath(':key'), {
        area: accountArea,
        proof: 'none',
        form: emptyForm,
        back: sessions,
        ask: async (visit, { key }) => {
          const { agent, address, createdAt } = await findOwnSession(door.platform, visit.session, key)
          return {
            title: 'End this session?',
            says: (
              <p>
                <ChosenName name={agent ?? 'Unknown browser'} />, signed in from {address} <Time at={createdAt} />, is
                signed out at once. {unused}
              </p>
            ),
            button: 'End session',
          }
        },
        act: async ({ visit }, { key }, back) => {
          await visit.asOwner().do(endSession, key)
          const isThis = key === visit.session.sessionKey
          return isThis ? seeOther('/signed-out', [forgetCookie(door, 'session')]) : back('ended')
        },
      }),
    )
    .use(
      confirmed(door, accountPaths.endOthers, {
        area: accountArea,
        proof: 'none',
        form: emptyForm,
        back: sessions,
        ask: async (visit) => {
          const { count, exact } = await liveSessionsOf(door.platform, visit.userId)
          return {
            title: 'End all other sessions?',
            says: <p>All other browsers are signed out at once. {unused}</p>,
            counts: [[{ count: count - 1, exact }, 'other session ends', 'other sessions end']],
            button: 'End all other sessions',
          }
        },
        act: async ({ visit }, _, back) => {
          await visit.asOwner().do(endOtherSessions)
          return back('ended-others')
        },
      }),
    )
    .use(
      confirmed(door, accountPaths.endEvery, {
        area: accountArea,
        proof: 'none',
        form: emptyForm,
        back: sessions,
        ask: async (visit) => ({
          title: 'Sign out everywhere?',
          says: <p>Every browser is signed out at once, including this one. {unused}</p>,
          counts: [[await liveSessionsOf(door.platform, visit.userId), 'session ends', 'sessions end']],
          button: 'Sign out everywhere',
        }),
        act: async ({ visit }) => {
          await visit.asOwner().do(endEverySession)
          return seeOther('/signed-out', [forgetCookie(door, 'session')])
        },
      }),
    )
    .use(
      confirmed(door, endInstallPath(':id'), {
        area: accountArea,
        proof: 'none',
        form: alsoForm,
        back: installs,
        ask: async (visit, { id }) => {
          const install = await describeInstall(door.platform, id)
          if (install.userId !== visit.userId) throw refuse('route_not_found')
          const isPending = endingStep(install) === 'withdraw'
          return {
            title: isPending ? 'Withdraw this install?' : 'Uninstall this app?',
            says: (
              <p>
                <ChosenName name={install.appName} />{' '}
                {isPending ? 'will not be installed on' : 'is removed at once from'} your{' '}
                {resourceKindInSentence(install.kind)} <code>{install.resource}</code>
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
        act: async ({ visit, fields }, { id }, back) => {
          const end = fields.also === 'yes' ? endInstallAndAccess : endInstall
          return back(await visit.as(ownsInstall(id)).do(end, id))
        },
      }),
    )

const connectedApp = async (visit: Visit, clientId: string): Promise<ConnectedApp> => {
  const app = await findConnectedApp(visit, clientId)
  if (app === null) throw refuse('route_not_found')
  return app
}

/** A ticked box that ends what else the app has of this person; nothing if it has nothing else. */
const alsoForm = formOf({ also: optionalText })
type AlsoProps = { readonly of: readonly [count: number, one: string, many: string]; readonly children: string }
const Also = ({ of: [count, one, many], children }: AlsoProps) =>
  count === 0 ? null : (
    <Choice type="checkbox" name="also" value="yes" checked about={`${count} ${count === 1 ? one : many}.`}>
      {children}
    </Choice>
  )

type InEnvironment = Parameters<typeof isOf>[0]

const installsOf = async ({ door, userId }: Visit, app: InEnvironment): Promise<number> =>
  (await listOpenInstalls(door.platform, userId)).filter(isOf(app)).length

const authorizationsOf = async ({ door, session }: Visit, install: InEnvironment): Promise<number> =>
  (await listConnectedApps(door.platform, session)).find(isOf(install))?.authorizations ?? 0
