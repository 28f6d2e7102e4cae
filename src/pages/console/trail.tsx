import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { type AppEvent, listAppEvents } from '../../operations/audit/lists.ts'
import { Badge, EnvironmentBadge } from '../components/badges.tsx'
import { Filter } from '../components/form.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { listPart, olderPath } from '../query.ts'
import { consoleAppPath, type OwnApp, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The name in its cursors. */
const list = 'app-trail'

/** The audit log of an app. */
export const appTrailRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/trail', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const action = actionOf(request)
    const { data, nextCursor } = await listAppEvents(door.platform, app, action, listPart(visit, list))
    const older = olderPath(consoleAppPath(slug, 'trail'), list, nextCursor, action === null ? {} : { action })
    return page(<TrailPage visit={visit} app={app} events={data} action={action} older={older} />)
  })

/** The action to show; null, for all, when the parameter is empty or unknown. */
const actionOf = (request: Request): string | null => {
  const asked = new URL(request.url).searchParams.get('action')
  return asked !== null && actionWords.has(asked) ? asked : null
}

type TrailPageProps = OwnApp & {
  readonly events: readonly AppEvent[]
  readonly action: string | null
  readonly older: string | null
}

const TrailPage = ({ visit, app, events, action, older }: TrailPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="trail" title="Audit log">
    <p>
      The events of this app, newest first: every change, and every secret, code or token that was refused. Successful
      token requests are not listed, but each secret shows when it was last used. Rows are never changed.
    </p>
    <Filter
      path={consoleAppPath(app.slug, 'trail')}
      name="action"
      label="Event"
      all="All events"
      options={[...actionWords]}
      selected={action}
    />
    {events.length === 0 ? (
      <p class="muted">No such event yet.</p>
    ) : (
      <Table label="Events" columns={['Time', 'Event', 'Actor', 'Address', 'Target and request']}>
        {events.map((event) => (
          <EventRow key={event.id} event={event} />
        ))}
      </Table>
    )}
    <Older href={older} name="Older events" />
  </OwnAppPage>
)

const EventRow = ({ event }: { readonly event: AppEvent }) => (
  <tr>
    <td>
      <Time at={event.at} />
    </td>
    <td>
      {actionWords.get(event.action) ?? event.action}{' '}
      {event.outcome === 'refused' ? <Badge tone="bad">Refused</Badge> : null}{' '}
      {event.environment === null ? null : <EnvironmentBadge environment={event.environment} />}
      {event.reason === null ? null : (
        <>
          <br />
          <code class="small">{event.reason}</code>
        </>
      )}
    </td>
    <td>{event.isOwn ? 'You' : actors[event.actorKind]}</td>
    <td>{event.address ?? '–'}</td>
    <td>
      <code class="small">{event.target ?? '–'}</code>
      <br />
      <code class="small">{event.requestId}</code>
    </td>
  </tr>
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
