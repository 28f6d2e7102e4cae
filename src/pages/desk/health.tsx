import { type PlatformHealth, readHealth, wordsOfJob } from '../../operations/health/health.ts'
import { bytesInWords } from '../../domain/text.ts'
import { program } from '../../runtime/program.ts'
import { Badge } from '../design/badge.tsx'
import { StatTile, StatTiles } from '../design/stat.tsx'
import { type Columns, Table } from '../design/table.tsx'
import { Facts, Lines, Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { agoInWords, counted, durationInWords } from '../words.ts'
import { DeskPage, deskPaths } from './desk-page.tsx'
import { pageFor } from '../change.tsx'

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
