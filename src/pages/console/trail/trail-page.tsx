import type { AppEvent } from '../../../operations/audit/lists.ts'
import { Badge, EnvironmentBadge } from '../../components/badges.tsx'
import { Older, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { AppPage } from '../components/app-page.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import { actionWords } from './action-words.ts'

type TrailPageProps = OwnApp & {
  readonly events: readonly AppEvent[]
  /** The action that the trail is narrowed to; null for all. */
  readonly action: string | null
  readonly older: string | null
}

export const TrailPage = ({ visit, app, events, action, older }: TrailPageProps) => (
  <AppPage visit={visit} app={app} tab="trail" title="Audit trail">
    <p>
      What happened to this app, newest first: every change, and every secret, code or token that was refused. Tokens
      that are issued without trouble are not listed one by one; each secret tells when it was last used. Rows are never
      changed.
    </p>
    <ActionFilter slug={app.slug} action={action} />
    {events.length === 0 ? (
      <p class="muted">Nothing of this kind has happened.</p>
    ) : (
      <Table label="Events" columns={['When', 'What', 'Who', 'From', 'About, and its request']}>
        {events.map((event) => (
          <EventRow key={event.id} event={event} />
        ))}
      </Table>
    )}
    <Older href={older} name="Older events" />
  </AppPage>
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
  anonymous: 'Somebody',
  system: 'The platform',
} as const satisfies Record<AppEvent['actorKind'], string>

const ActionFilter = ({ slug, action }: { readonly slug: string; readonly action: string | null }) => (
  <form method="get" action={appPath(slug, 'trail')} class="filter">
    <label for="action">What</label>
    <select id="action" name="action">
      <option value="" selected={action === null}>
        Everything
      </option>
      {[...actionWords].map(([value, words]) => (
        <option key={value} value={value} selected={value === action}>
          {words}
        </option>
      ))}
    </select>
    <button type="submit" class="outline">
      Show
    </button>
  </form>
)
