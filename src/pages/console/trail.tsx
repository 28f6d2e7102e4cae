import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { type AppEvent, everyAppEvent, listAppEvents } from '../../operations/audit/lists.ts'
import { Badge, EnvironmentBadge } from '../design/badge.tsx'
import { Filter, Pager } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { Lines, Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { choiceParameter, readList } from '../query.ts'
import { consoleAppPath, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The audit log of an app. */
export const appTrailRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/trail', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const action = choiceParameter(request, 'action', [...actionWords.keys()])
    const place = { list: 'app-trail', path: consoleAppPath(slug, 'trail'), query: { action: action ?? '' } }
    const events = await readList(visit, place, (part) =>
      listAppEvents(door.platform, app, { ...everyAppEvent, action }, part),
    )
    return page(
      <OwnAppPage visit={visit} app={app} tab="trail" title="Audit log">
        <p>
          The events of this app, newest first: every change, and every secret, code or token that was refused.
          Successful token requests are not listed, but each secret shows when it was last used. Rows are never changed.
        </p>
        <Filter
          path={place.path}
          name="action"
          label="Event"
          all="All events"
          options={[...actionWords]}
          selected={action}
        />
        <Table
          label="Events"
          rows={events.rows}
          columns={{
            Time: ({ at }) => <Time at={at} />,
            Event: (event) => (
              <Lines of={[<What event={event} />, event.reason && <code class="small">{event.reason}</code>]} />
            ),
            Actor: ({ isOwn, actorKind }) => (isOwn ? 'You' : actors[actorKind]),
            Address: ({ address }) => address ?? '–',
            'Target and request': ({ target, requestId }) => (
              <Lines of={[<code class="small">{target ?? '–'}</code>, <code class="small">{requestId}</code>]} />
            ),
          }}
          empty="No such event yet."
        />
        <Pager {...events} shown={events.rows.length} />
      </OwnAppPage>,
    )
  })

const What = ({ event: { action, outcome, environment } }: { readonly event: AppEvent }) => (
  <>
    {actionWords.get(action) ?? action} {outcome === 'refused' ? <Badge tone="bad">Refused</Badge> : null}{' '}
    {environment === null ? null : <EnvironmentBadge environment={environment} />}
  </>
)

const actors = {
  app: 'The app',
  user: 'A user',
  operator: 'An operator',
  anonymous: 'Unknown',
  system: 'The platform',
} as const satisfies Record<AppEvent['actorKind'], string>

/** The names of the events, in the order of the filter. */
const actionWords: ReadonlyMap<string, string> = new Map([
  ['app.created', 'App registered'],
  ['app.renamed', 'App renamed'],
  ['app.scopes_changed', 'Scopes changed'],
  ['app.suspended', 'App suspended'],
  ['app.activated', 'App activated'],
  ['app.transferred', 'App transferred to another owner'],
  ['app.access_ended', 'All access ended'],
  ['app.deleted', 'App deleted'],
  ['app.undeleted', 'App restored'],
  ['credential.created', 'Secret created'],
  ['credential.rotated', 'Secret rotated'],
  ['credential.revoked', 'Secret revoked'],
  ['credential.suspended', 'Secret suspended after data loss'],
  ['credential.confirmed', 'Suspended secret confirmed'],
  ['redirect_uri.added', 'Redirect URI registered'],
  ['redirect_uri.removed', 'Redirect URI removed'],
  ['version.created', 'Version uploaded'],
  ['version.replaced', 'Draft replaced'],
  ['version.submitted', 'Version submitted'],
  ['version.withdrawn', 'Version withdrawn'],
  ['version.approved', 'Version approved'],
  ['version.rejected', 'Version rejected'],
  ['version.activated', 'Version went live'],
  ['version.rolled_back', 'Rolled back'],
  ['install.created', 'Install requested'],
  ['install.approved', 'Install approved'],
  ['install.rejected', 'Install rejected'],
  ['install.withdrawn', 'Install withdrawn'],
  ['install.deactivated', 'Install deactivated'],
  ['install.scopes_changed', 'New scopes of an install agreed to'],
  ['install_session_code.issued', 'Opened in the builder'],
  ['install_session_code.revoked', 'Frame code revoked'],
  ['install_session_code.reuse_detected', 'Used frame code presented again'],
  ['embedded_session.issue', 'Frame session requested'],
  ['embedded_session.issued', 'Frame session started'],
  ['embedded_session.revoked', 'Frame session revoked'],
  ['grant.created', 'A user consented'],
  ['grant.revoked', 'A user’s access revoked'],
  ['grant.reuse_detected', 'Used code or token presented again'],
  ['webhook.created', 'Webhook added'],
  ['webhook.removed', 'Webhook removed'],
  ['webhook.enabled', 'Webhook enabled'],
  ['webhook.disabled', 'Webhook disabled'],
  ['webhook.secret_rotated', 'Webhook secret rotated'],
  ['webhook.pinged', 'Webhook tested'],
  ['webhook.resent', 'Events sent again'],
  ['app_token.issue', 'App token requested'],
  ['app_token.revoked', 'App token revoked'],
  ['authorization_code.exchange', 'Code exchanged'],
  ['authorization_code.exchange.repeated', 'Exchange repeated'],
  ['refresh_token.rotate', 'Token refreshed'],
  ['refresh_token.rotate.repeated', 'Refresh repeated'],
  ['token.revoke', 'Revocation requested'],
  ['bearer.check', 'Token presented'],
])
