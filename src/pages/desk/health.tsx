import { Elysia } from 'elysia'
import type { ComponentChildren } from 'preact'
import { bytesInWords } from '../../domain/text.ts'
import type { Door } from '../../http/door.ts'
import { type PlatformHealth, readHealth } from '../../operations/health/figures.ts'
import { program } from '../../runtime/program.ts'
import { Badge } from '../components/badges.tsx'
import { Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { durationInWords } from '../words.ts'
import { DeskPage, deskPaths } from './desk-page.tsx'

/** The state of the server. */
export const healthRoutes = (door: Door) =>
  new Elysia().get(deskPaths.health, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const health = await readHealth(door.platform)
    return page(<HealthPage visit={visit} health={health} uptimeSeconds={program.uptimeSeconds()} />)
  })

type HealthPageProps = { readonly visit: Visit; readonly health: PlatformHealth; readonly uptimeSeconds: number }

const HealthPage = ({ visit, health, uptimeSeconds }: HealthPageProps) => (
  <DeskPage title="Health" visit={visit} tab={deskPaths.health}>
    {health.conditions.map(({ name, sentence }) => (
      <p key={name} class="problem" role="alert">
        {sentence}
      </p>
    ))}
    <div class="cards">
      <Card title="Database">
        <dt>Accepts writes</dt>
        <dd>{health.writable ? <Badge tone="good">Yes</Badge> : <Badge tone="bad">No</Badge>}</dd>
        <dt>Size</dt>
        <dd>{bytesInWords(health.databaseBytes)}</dd>
        <dt>Write-ahead log</dt>
        <dd>{bytesInWords(health.walBytes)}</dd>
        <dt>Free disk space</dt>
        <dd>{health.freeDiskBytes === null ? 'Unknown' : bytesInWords(health.freeDiskBytes)}</dd>
        <dt>Transactions since the start</dt>
        <dd>{count(health.transactions)}</dd>
        <dt>Transactions per commit</dt>
        <dd>{health.commits === 0 ? 'None yet' : (health.transactions / health.commits).toFixed(2)}</dd>
        <dt>Purge of expired rows</dt>
        <dd>
          <PurgeLag seconds={health.purgeLagSeconds} />
        </dd>
      </Card>
      <Card title="Artifacts">
        <dt>Files</dt>
        <dd>{count(health.artifacts.files)}</dd>
        <dt>Total size</dt>
        <dd>{bytesInWords(health.artifacts.bytes)}</dd>
        <dt>Limit per app</dt>
        <dd>{bytesInWords(health.artifacts.allowedBytesPerApp)}</dd>
      </Card>
      <Card title="Active now">
        <dt>App tokens</dt>
        <dd>{live(health.live.appTokens)}</dd>
        <dt>Sessions</dt>
        <dd>{live(health.live.sessions)}</dd>
        <dt>User authorizations</dt>
        <dd>{live(health.live.grants)}</dd>
      </Card>
      <Card title="Program">
        <dt>Version of the program</dt>
        <dd>
          {program.version}, commit {program.commit}
        </dd>
        <dt>SQLite</dt>
        <dd>{health.sqliteVersion}</dd>
        <dt>Bun</dt>
        <dd>{program.bunVersion}</dd>
        <dt>Running for</dt>
        <dd>{durationInWords(uptimeSeconds)}</dd>
        <dt>Last backup</dt>
        <dd>
          {health.backupAgeSeconds === null ? (
            <Badge tone="waiting">None yet</Badge>
          ) : (
            `${durationInWords(health.backupAgeSeconds)} ago`
          )}
        </dd>
        <dt>Last restore from a backup</dt>
        <dd>{health.restoredAt === null ? 'Never' : <Time at={health.restoredAt} />}</dd>
      </Card>
    </div>
    <p class="muted">
      These figures are from the moment when this page was loaded. Large tables are counted in part, starting with the
      newest rows. Monitoring systems find these figures and more at <code>/metrics</code>.
    </p>
  </DeskPage>
)

const Card = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <article>
    <h2>{title}</h2>
    <dl>{children}</dl>
  </article>
)

const PurgeLag = ({ seconds }: { readonly seconds: number | null }) => {
  if (seconds === null) return <>Unknown</>
  if (seconds === 0) return <Badge tone="good">Up to date</Badge>
  return <Badge tone="waiting">{`${durationInWords(seconds)} behind`}</Badge>
}

const count = (value: number): string => value.toLocaleString('en')
const live = ({ count: found, exact }: PlatformHealth['live']['appTokens']): string =>
  exact ? count(found) : `${count(found)} or more`
