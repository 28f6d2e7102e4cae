import type { ComponentChildren } from 'preact'
import { bytesInWords } from '../../../domain/text.ts'
import type { PlatformHealth } from '../../../operations/health/figures.ts'
import { Badge } from '../../components/badges.tsx'
import { Time } from '../../components/values.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { deskPaths } from '../paths.ts'
import { durationInWords } from '../../words.ts'

type HealthPageProps = {
  readonly visit: Visit
  readonly health: PlatformHealth
  readonly program: {
    readonly version: string
    readonly commit: string
    readonly bunVersion: string
    readonly uptimeSeconds: number
  }
}

export const HealthPage = ({ visit, health, program }: HealthPageProps) => (
  <DeskPage title="Health" visit={visit} tab={deskPaths.health}>
    {health.conditions.map(({ name, sentence }) => (
      <p key={name} class="problem" role="alert">
        {sentence}
      </p>
    ))}
    <div class="cards">
      <Card title="Store">
        <dt>Takes writes</dt>
        <dd>{health.writable ? <Badge tone="good">Yes</Badge> : <Badge tone="bad">No</Badge>}</dd>
        <dt>Database</dt>
        <dd>{bytesInWords(health.databaseBytes)}</dd>
        <dt>Write-ahead log</dt>
        <dd>{bytesInWords(health.walBytes)}</dd>
        <dt>Free on its disk</dt>
        <dd>{health.freeDiskBytes === null ? 'Not known' : bytesInWords(health.freeDiskBytes)}</dd>
        <dt>Transactions since the start</dt>
        <dd>{count(health.transactions)}</dd>
        <dt>Transactions per commit</dt>
        <dd>{health.commits === 0 ? 'None yet' : (health.transactions / health.commits).toFixed(2)}</dd>
        <dt>Purge of what has expired</dt>
        <dd>
          {health.purgeLagSeconds === null ? (
            'Not known'
          ) : health.purgeLagSeconds === 0 ? (
            <Badge tone="good">Up to date</Badge>
          ) : (
            <Badge tone="waiting">{`${durationInWords(health.purgeLagSeconds)} behind`}</Badge>
          )}
        </dd>
      </Card>
      <Card title="Artifacts">
        <dt>Files</dt>
        <dd>{count(health.artifacts.files)}</dd>
        <dt>Together</dt>
        <dd>{bytesInWords(health.artifacts.bytes)}</dd>
        <dt>Allowed per app</dt>
        <dd>{bytesInWords(health.artifacts.allowedBytesPerApp)}</dd>
      </Card>
      <Card title="Alive now">
        <dt>App tokens</dt>
        <dd>{live(health.live.appTokens)}</dd>
        <dt>Sessions</dt>
        <dd>{live(health.live.sessions)}</dd>
        <dt>Authorizations by users</dt>
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
        <dd>{durationInWords(program.uptimeSeconds)}</dd>
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
      As of the moment this page was loaded. Where there are very many rows, the newest are counted. The same and more
      for a monitor: <code>/metrics</code>.
    </p>
  </DeskPage>
)

const Card = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <article>
    <h2>{title}</h2>
    <dl>{children}</dl>
  </article>
)

const count = (value: number): string => value.toLocaleString('en')
const live = ({ count: alive, exact }: PlatformHealth['live']['appTokens']): string =>
  exact ? count(alive) : `${count(alive)} or more`
