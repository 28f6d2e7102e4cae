import type { VersionStatus } from '../../domain/version.ts'
import { listDecided, listQueue, type QueuedVersion } from '../../operations/versions/lists.ts'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge, Badge, VersionStatusBadge } from '../design/badge.tsx'
import { Problem } from '../design/field.tsx'
import { FilterBar, isLong } from '../design/list-tools.tsx'
import { ListRows, Row } from '../design/row-list.tsx'
import { LinkButton } from '../design/form.tsx'
import { choice, entry, list, listRoutes, periodFields, periodOf, search } from '../list.ts'
import { page, seeOther } from '../page.ts'
import type { Visit } from '../visit.ts'
import { DeskPage, deskPaths, reviewPath } from './desk-page.tsx'
import { pageFor, routes } from '../change.tsx'

const deskReviews = list(
  'desk',
  deskPaths.reviews,
  { q: search('Name or slug of the app') },
  { parts: { review: ['q'], activation: ['q'] } },
)

const deskDecided = list('desk-decided', deskPaths.decided, {
  q: search('Name or slug of the app'),
  outcome: choice('Decision', [
    ['approved', 'Approved'],
    ['rejected', 'Rejected'],
  ]),
  by: entry('Decided by (email address)'),
  ...periodFields,
})

/** The versions that wait for a decision. `/desk` leads here. */
export const reviewsRoutes = routes(() => [
  pageFor('operator', deskPaths.desk, () => seeOther(deskPaths.reviews)),
  listRoutes(deskReviews, { by: 'operator', show }),
  listRoutes(deskDecided, { by: 'operator', show: showDecided }),
])

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskReviews.read(visit)
  const { q } = asked.values
  const review = await asked.rows((window) => listQueue(platform, 'review', window, q), 'review')
  const activation = await asked.rows((window) => listQueue(platform, 'activation', window, q), 'activation')
  return page(
    <DeskPage
      title="Reviews"
      visit={visit}
      tab={deskPaths.reviews}
      actions={<LinkButton href={deskPaths.decided}>Decided reviews</LinkButton>}
    >
      <FilterBar of={asked} isShown={isLong(review) || isLong(activation)} />
      <h2>Waiting for review</h2>
      <ListRows
        label="Versions that wait for review"
        of={review}
        row={(of) => <QueueRow of={of} since="Submitted" />}
        empty={nothingToReview}
        pages="Pages of versions that wait for review"
      />
      <h2>Approved, not live yet</h2>
      <ListRows
        label="Approved versions"
        of={activation}
        row={(of) => <QueueRow of={of} since="Approved" />}
        empty="No approved version is waiting to go live."
        pages="Pages of approved versions"
      />
    </DeskPage>,
  )
}

const showDecided = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskDecided.read(visit)
  const { q: part, outcome, by, ...period } = asked.values
  const decided = await asked.found(
    async (window) => await listDecided(platform, { part, outcome, by, ...periodOf(period) }, window),
  )
  const { refusal } = decided
  return page(
    <DeskPage title="Decided reviews" visit={visit} tab={deskPaths.reviews}>
      <Problem error={refusal} />
      <FilterBar of={asked} />
      <ListRows
        label="Decided versions"
        of={decided}
        row={(of) => <QueueRow of={of} since="Decided" status={of.status} by={of.by} />}
        empty="No version has been decided yet."
      />
    </DeskPage>,
    { refusal },
  )
}

const nothingToReview = 'No version is waiting for review. Versions appear here when developers submit them.'

type QueueRowProps = {
  readonly of: QueuedVersion
  readonly since: string
  /** What became of it, and the address of the operator who decided; null for one without an account. */
  readonly status?: VersionStatus
  readonly by?: string | null
}

const QueueRow = ({ of, since, status, by }: QueueRowProps) => (
  <Row
    key={of.id}
    href={reviewPath(of.slug, of.version)}
    avatar={<Avatar id={of.appId} name={of.appName} />}
    title={
      <>
        <bdi>{of.appName}</bdi>
        <span class="unseen"> {of.version}</span>
      </>
    }
    badge={
      <>
        <Badge>{of.version}</Badge> {status === undefined ? null : <VersionStatusBadge status={status} />}{' '}
        {of.appStatus === 'active' ? null : <AppStatusBadge status="suspended" />}
      </>
    }
    facts={[
      <code>{of.slug}</code>,
      <bdi>{of.ownerEmail}</bdi>,
      by === undefined ? null : by === null ? 'Decided at the command line or by a program' : `Decided by ${by}`,
    ]}
    time={[since, of.since]}
  />
)
