import { Elysia } from 'elysia'
import { bytesInWords } from '../../domain/text.ts'
import type { Door } from '../../http/door.ts'
import { type PlatformHealth, readHealth } from '../../operations/health/figures.ts'
import { program } from '../../runtime/program.ts'
import { Badge } from '../components/badges.tsx'
import { Facts, Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { requireOperator } from '../visit.ts'
import { durationInWords } from '../words.ts'
import { DeskPage, deskPaths } from './desk-page.tsx'

/** The state of the server. */
export const healthRoutes = (door: Door) =>
  new Elysia().get(deskPaths.health, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const uptimeSeconds = program.uptimeSeconds()
    const health = await readHealth(door.platform)
    return page(
      <DeskPage title="Health" visit={visit} tab={deskPaths.health}>
        {health.conditions.map(({ name, sentence }) => (
          <p key={name} class="problem" role="alert">
            {sentence}
          </p>
        ))}
        <div class="cards">
          <article>
            <h2>Database</h2>
            <Facts
              of={{
                'Accepts writes': health.writable ? <Badge tone="good">Yes</Badge> : <Badge tone="bad">No</Badge>,
                Size: bytesInWords(health.databaseBytes),
                'Write-ahead log': bytesInWords(health.walBytes),
                'Free disk space': health.freeDiskBytes === null ? 'Unknown' : bytesInWords(health.freeDiskBytes),
                'Transactions since the start': count(health.transactions),
                'Transactions per commit':
                  health.commits === 0 ? 'None yet' : (health.transactions / health.commits).toFixed(2),
                'Purge of expired rows': <PurgeLag seconds={health.purgeLagSeconds} />,
              }}
            />
          </article>
          <article>
            <h2>Artifacts</h2>
            <Facts
              of={{
                Files: count(health.artifacts.files),
                'Total size': bytesInWords(health.artifacts.bytes),
                'Limit per app': bytesInWords(health.artifacts.allowedBytesPerApp),
              }}
            />
          </article>
          <article>
            <h2>Active now</h2>
            <Facts
              of={{
                'App tokens': live(health.live.appTokens),
                Sessions: live(health.live.sessions),
                'User authorizations': live(health.live.grants),
              }}
            />
          </article>
          <article>
            <h2>Program</h2>
            <Facts
              of={{
                'Version of the program': `${program.version}, commit ${program.commit}`,
                SQLite: health.sqliteVersion,
                Bun: program.bunVersion,
                'Running for': durationInWords(uptimeSeconds),
                'Last backup': <LastBackup ageSeconds={health.backupAgeSeconds} />,
                'Last restore from a backup': <Time at={health.restoredAt} otherwise="Never" />,
              }}
            />
          </article>
        </div>
        <p class="muted">
          These figures are from the moment when this page was loaded. Large tables are counted in part, starting with
          the newest rows. Monitoring systems find these figures and more at <code>/metrics</code>.
        </p>
      </DeskPage>,
    )
  })

const LastBackup = ({ ageSeconds }: { readonly ageSeconds: number | null }) =>
  ageSeconds === null ? <Badge tone="waiting">None yet</Badge> : <>{`${durationInWords(ageSeconds)} ago`}</>

const PurgeLag = ({ seconds }: { readonly seconds: number | null }) => {
  if (seconds === null) return <>Unknown</>
  if (seconds === 0) return <Badge tone="good">Up to date</Badge>
  return <Badge tone="waiting">{`${durationInWords(seconds)} behind`}</Badge>
}

const count = (value: number): string => value.toLocaleString('en')
const live = ({ count: found, exact }: PlatformHealth['live']['appTokens']): string =>
  exact ? count(found) : `${count(found)} or more`
