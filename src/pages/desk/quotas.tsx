import type { ComponentChildren } from 'preact'
import { bytesInWords } from '../../domain/text.ts'
import { readQuotaUse } from '../../operations/health/health.ts'
import { Avatar } from '../design/avatar.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { StatTile, StatTiles } from '../design/stat.tsx'
import { page } from '../page.ts'
import { counted } from '../words.ts'
import { deskAppPath, DeskPage, deskPaths, userPath } from './desk-page.tsx'
import { pageFor, routes } from '../change.tsx'

/** Apps and accounts that the page shows: those that use most. */
const shownRows = 50

/** What apps and accounts use of what they may. */
export const quotaRoutes = routes(() => [
  pageFor('operator', deskPaths.quotas, async (visit) => {
    const { quotas, artifactsOfApps, appsOfAccounts, stored } = await readQuotaUse(visit.door.platform, shownRows)
    return page(
      <DeskPage title="Quotas" visit={visit} tab={deskPaths.quotas}>
        <StatTiles>
          <StatTile label="Artifacts of one app" value={`At most ${bytesInWords(quotas.artifactBytes)}`} />
          <StatTile label="Apps of one account" value={`At most ${quotas.apps}`} />
          <StatTile
            label="All artifacts"
            value={bytesInWords(stored.bytes)}
            change={`${counted(stored.files, 'file')}, also those that no version uses`}
          />
        </StatTiles>
        <h2>Artifacts per app</h2>
        <p class="muted">The {shownRows} apps with the most. An artifact that several versions use counts once.</p>
        <RowList
          label="Artifacts per app"
          rows={artifactsOfApps ?? []}
          row={({ id, slug, name, bytes }) => (
            <Row
              key={id}
              href={deskAppPath(slug)}
              avatar={<Avatar id={id} name={name} />}
              title={<bdi>{name}</bdi>}
              facts={[<code>{slug}</code>]}
              actions={
                <Use of={`artifacts of ${name}`} used={bytes} most={quotas.artifactBytes}>
                  {bytesInWords(bytes)} of {bytesInWords(quotas.artifactBytes)}
                </Use>
              }
            />
          )}
          empty={artifactsOfApps === null ? tooMany('app') : 'No app has artifacts yet.'}
        />
        <h2>Apps per account</h2>
        <p class="muted">The {shownRows} accounts with the most. Deleted apps do not count.</p>
        <RowList
          label="Apps per account"
          rows={appsOfAccounts ?? []}
          row={({ id, email, name, apps }) => (
            <Row
              key={id}
              href={userPath(id)}
              avatar={<Avatar id={id} name={name} />}
              title={<bdi>{name}</bdi>}
              facts={[<bdi>{email}</bdi>]}
              actions={
                <Use of={`apps of ${email}`} used={apps} most={quotas.apps}>
                  {apps} of {quotas.apps}
                </Use>
              }
            />
          )}
          empty={appsOfAccounts === null ? tooMany('user') : 'Nobody has an app yet.'}
        />
        <p class="muted">
          The limits are the same for everybody. They are settings of the server, <code>QUOTA_ARTIFACT_BYTES</code> and{' '}
          <code>QUOTA_APPS</code>: see the guide <a href="/docs/guides/settings">Settings</a>.
        </p>
      </DeskPage>,
    )
  }),
])

const tooMany = (of: 'app' | 'user'): string =>
  `There are too many to sort them here. The page of each ${of} shows what it uses.`

type UseProps = {
  /** What is measured, for screen readers. */
  readonly of: string
  readonly used: number
  readonly most: number
  readonly children: ComponentChildren
}

const Use = ({ of, used, most, children }: UseProps) => (
  <span class="use">
    <meter aria-label={`Share of the quota: ${of}`} min={0} max={most} high={most * 0.9} value={Math.min(used, most)} />{' '}
    {children} ({percent(used, most)})
  </span>
)

const percent = (used: number, most: number): string => {
  const share = (used / most) * 100
  return share > 0 && share < 1 ? 'below 1 %' : `${Math.floor(share)} %`
}
