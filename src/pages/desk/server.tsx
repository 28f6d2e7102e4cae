import type { ComponentChildren } from 'preact'
import { type PlatformHealth, readHealth, readQuotaUse, wordsOfJob } from '../../operations/health/health.ts'
import { bytesInWords } from '../../domain/text.ts'
import { program } from '../../runtime/program.ts'
import { Badge } from '../design/badge.tsx'
import { StatTile, StatTiles } from '../design/stat.tsx'
import { type Columns, Table } from '../design/table.tsx'
import { Facts, Lines, Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { agoInWords, counted, durationInWords } from '../words.ts'
import { deskAppPath, DeskPage, deskPaths, userPath } from './desk-page.tsx'
import { pageFor, routes } from '../change.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import type { SettingFact } from '../../domain/deciding-settings.ts'

/** The state of the server. */
export const healthRoutes = pageFor('operator', deskPaths.health, async (visit) => {
  const now = visit.door.platform.clock.now()
  const health = await readHealth(visit.door.platform)
  // PostgreSQL has its own disk, log and backups, of which this program sees nothing.
  const isFile = health.nodes === null
  return page(
    <DeskPage
      title="Health"
      visit={visit}
      tab={deskPaths.health}
      about={health.conditions.length === 0 ? 'The server reports no problem.' : undefined}
    >
      {health.conditions.map(({ name, sentence }) => (
        <p key={name} class="problem" role="alert">
          {sentence}
        </p>
      ))}
      {health.sharedBy.length > 0 && (
        <>
          <h2>Servers</h2>
          <Table label="Servers" rows={health.sharedBy} columns={serverColumns} rowHeader="Server" />
        </>
      )}
      <StatTiles>
        <StatTile
          label="Database"
          value={bytesInWords(health.databaseBytes)}
          change={<Writable is={health.writable} />}
        />
        {visit.door.platform.database.backups !== null ? (
          <StatTile
            label="Last backup"
            value={
              health.backupAgeSeconds === null ? 'None yet' : agoInWords(now - health.backupAgeSeconds * 1000, now)
            }
            href={deskPaths.backups}
          />
        ) : null}
        <StatTile
          label="Artifacts"
          value={bytesInWords(health.artifacts.bytes)}
          change={counted(health.artifacts.files, 'file')}
          href={deskPaths.quotas}
        />
        <StatTile label="Started" value={agoInWords(now - program.uptimeSeconds() * 1000, now)} />
      </StatTiles>
      <section>
        <h2>Database</h2>
        <Facts
          of={{
            ...(isFile && {
              'Write-ahead log': bytesInWords(health.walBytes),
              'Free disk space': health.freeDiskBytes === null ? 'Unknown' : bytesInWords(health.freeDiskBytes),
            }),
            'Transactions since the start': count(health.transactions),
            'Transactions per commit':
              health.commits === 0 ? 'None yet' : (health.transactions / health.commits).toFixed(2),
            ...(isFile && { 'Last restore from a backup': <Time at={health.restoredAt} otherwise="Never" /> }),
          }}
        />
      </section>
      <section>
        <h2>Active now</h2>
        <Facts
          of={{
            'App tokens': live(health.live.appTokens),
            Sessions: live(health.live.sessions),
            'User authorizations': live(health.live.grants),
            ...(health.mailsWaiting !== null && { 'Mails waiting': count(health.mailsWaiting) }),
          }}
        />
      </section>
      <section>
        <h2>Program</h2>
        <Facts
          of={{
            'Version of the program': `${program.version}, commit ${program.commit}`,
            [isFile ? 'SQLite' : 'PostgreSQL']: health.engineVersion,
            Bun: program.bunVersion,
          }}
        />
      </section>
      <h2>Maintenance</h2>
      <p>
        Purge of expired rows: <PurgeLag seconds={health.purgeLagSeconds} />
      </p>
      <Table label="Jobs" rows={visit.door.metrics.jobs()} columns={jobColumns} rowHeader="Job" />
      <p class="muted">
        These figures are from when this page was loaded. Large tables are counted in part, starting with the newest
        rows. Monitoring systems can read these figures and more at <code>/metrics</code>.
      </p>
    </DeskPage>,
  )
})

/** The servers that share the database. */
const serverColumns: Columns<PlatformHealth['sharedBy'][number]> = {
  Server: ({ name, number }) => `${name} (${number})`,
  Version: ({ version }) => version,
  'Running for': ({ runningMs }) => durationInWords(Math.floor(runningMs / 1000)),
  'Last heartbeat': ({ silentMs }) => `${durationInWords(Math.floor(silentMs / 1000))} ago`,
  Clock: ({ clockOffsetMs }) => (clockOffsetMs === null ? 'Not measured yet' : offsetInWords(clockOffsetMs)),
  'Purges for all': ({ leads }) => (leads ? <Badge tone="good">Yes</Badge> : 'No'),
  'Settings that differ from this server': ({ differs }) =>
    differs.length === 0 ? 'None' : <Badge tone="bad">{differs.join(', ')}</Badge>,
}

const jobColumns: Columns<{ readonly job: string; readonly agoSeconds: number }> = {
  Job: ({ job }) => <Lines of={[wordsOfJob(job), <code>{job}</code>]} />,
  'Last success': ({ agoSeconds }) => (agoSeconds < 1 ? 'Just now' : `${durationInWords(Math.floor(agoSeconds))} ago`),
}

const Writable = ({ is }: { readonly is: boolean }) => (
  <>Accepts writes {is ? <Badge tone="good">Yes</Badge> : <Badge tone="bad">No</Badge>}</>
)

const offsetInWords = (ms: number): string =>
  Math.abs(ms) < 100 ? 'Right' : `${(Math.abs(ms) / 1000).toFixed(1)} s ${ms > 0 ? 'ahead' : 'behind'}`

const PurgeLag = ({ seconds }: { readonly seconds: number | null }) => {
  if (seconds === null) return <>Unknown</>
  if (seconds === 0) return <Badge tone="good">Up to date</Badge>
  return <Badge tone="waiting">{`${durationInWords(seconds)} behind`}</Badge>
}

const count = (value: number): string => value.toLocaleString('en')
const live = ({ count: found, exact }: PlatformHealth['live']['appTokens']): string =>
  exact ? count(found) : `${count(found)} or more`

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

/** The settings of this server, with where each comes from. */
export const settingRoutes = pageFor('operator', deskPaths.settings, async (visit) => {
  return page(
    <DeskPage title="Settings" visit={visit} tab={deskPaths.settings}>
      <p>
        The settings with which this server runs. Secrets are only said to be set. To change one, set it where it comes
        from and restart the server. What comes from a file is read again by <code>systemctl reload app-platform</code>.
        The guide <a href="/docs/guides/settings">Settings</a> says what each does.
      </p>
      <Table label="Settings" rows={visit.door.settings} columns={columns} rowHeader="Setting" />
    </DeskPage>,
  )
})

const columns: Columns<SettingFact> = {
  Setting: ({ name }) => <code>{name}</code>,
  Value: ({ value, usual }) => <Value of={value ?? usual} />,
  'Comes from': ({ origin, from }) =>
    origin === 'default' ? (
      'Default'
    ) : (
      <>
        <Badge>{originWords[origin]}</Badge> <code>{from}</code>
      </>
    ),
  Default: ({ usual }) => <Value of={usual} />,
}

const originWords = { flag: 'Flag', environment: 'Environment', file: 'File' } as const

const Value = ({ of }: { readonly of: string | null }) => (of === null ? <>None</> : <code>{of}</code>)
