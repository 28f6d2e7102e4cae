import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { AuditEvent } from '../../db/database.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import { addRedirectUri, removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { addEndpoint, removeEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { auditEvents } from '../support/audit-events.ts'
import { restoreAt } from '../cli/support/restore-at.ts'
import { onSqlite } from '../support/engines.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld } from '../support/world.ts'
import { refusalOf } from './support/owner.ts'
import { backUp } from '../support/database-file.ts'

const day = 24 * 3_600_000
let folder: string
let file: string
let platform: Platform
let app: AppInWorld
beforeEach(async () => {
  folder = temporaryFolder()
  file = join(folder, 'retention.db')
  platform = await openAsOperator(file)
  app = await addApp(platform, await addUser(platform))
})
afterEach(async () => await platform.database.close())

const events = async (of: Platform = platform): Promise<AuditEvent[]> => await auditEvents(of)
const actionsOf = (rows: readonly AuditEvent[]) => rows.map(({ action }) => action)
/** Purges as of this many days later. */
const purgeAfter = async (days: number) => {
  const purgeBefore = () => platform.clock.now() + days * day
  const then = { ...platform, clock: { ...platform.clock, purgeBefore } }
  return await purgeAll(
    then,
    trace,
    async () => undefined,
    () => false,
  )
}
const guess = async () =>
  await refusalOf(issueAppToken(platform, trace, { ...app.development, clientSecret: 'wrong', scope: null }))

test('a refusal without a known caller is kept for 30 days, everything else for 400', async () => {
  for (let count = 0; count < 3; count += 1) expect(await guess()).toBe('invalid_client')
  await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
  const count = (await events()).length
  expect(await purgeAfter(29)).toMatchObject({ anonymous_refusals: 0, audit_events: 0 })
  expect((await events()).length).toBe(count)
  expect(await purgeAfter(32)).toMatchObject({ anonymous_refusals: 3, audit_events: 0 })
  expect(actionsOf(await events())).not.toContain('app_token.issue')
  expect(actionsOf(await events())).toContain('app.suspended')
  await purgeAfter(399)
  expect(actionsOf(await events())).toContain('app.suspended')
  await purgeAfter(402)
  expect(actionsOf(await events())).not.toContain('app.suspended')
})

test('the number of days can be set', async () => {
  expect(await guess()).toBe('invalid_client')
  platform = { ...platform, auditRetention: { days: 10, anonymousDays: 2 } }
  expect((await purgeAfter(3)).anonymous_refusals).toBe(1)
  expect((await purgeAfter(11)).audit_events).toBeGreaterThan(0)
})

test('a purge leaves an event with the number and the time of what it removed, and a second one leaves none', async () => {
  const before = platform.clock.now()
  await guess()
  await guess()
  await purgeAfter(32)
  const records = (await events()).filter(({ action }) => action.endsWith('.purged'))
  expect(records.map(({ action, actorKind }) => [action, actorKind])).toEqual([['anonymous_refusals.purged', 'system']])
  const { events: removed, from, to } = JSON.parse(records[0]?.detail ?? '')
  expect(removed).toBe(2)
  for (const time of [from, to]) expect(Date.parse(time)).toBeGreaterThanOrEqual(before - 1)
  await purgeAfter(32)
  expect((await events()).filter(({ action }) => action.endsWith('.purged'))).toEqual(records)
})

test('a purge removes many audit events in small batches', async () => {
  const [first] = await events()
  if (first === undefined) throw new Error('nothing has happened')
  await platform.database.transaction(async (q) => {
    for (let count = 0; count < 600; count += 1) {
      const id = `aud_${platform.random.uuidHex(first.at)}`
      await q.audit.insert({ ...first, id, actorKind: 'anonymous', actorId: null, outcome: 'refused', reason: 'x' })
    }
  })
  expect((await purgeAfter(32)).anonymous_refusals).toBe(600)
  const records = (await events()).filter(({ action }) => action === 'anonymous_refusals.purged')
  expect(records.map(({ detail }) => JSON.parse(detail ?? '').events)).toEqual([250, 250, 100])
})

test('a purge never removes the first event, nor those that tell a restore what was removed', async () => {
  const [first] = await events()
  await purgeAfter(800)
  const left = await events()
  expect(left[0]).toEqual(first)
  expect(new Set(actionsOf(left.slice(1)))).toEqual(new Set(['redirect_uri.added', 'audit_events.purged']))
})

onSqlite('restore of a file')(
  'what was removed stays removed when a backup from before is restored long after its events were purged',
  async () => {
    const place = { slug: app.slug, environment: 'production' } as const
    const uri = 'https://gone.example/callback'
    await addRedirectUri(platform, trace, operator, { ...place, uri })
    const { id } = await addEndpoint(platform, trace, operator, {
      ...place,
      url: 'https://93.184.216.34/hook',
      kinds: ['install.created'],
    })
    const backup = join(folder, 'backup.db')
    backUp(file, backup)
    await removeRedirectUri(platform, trace, operator, { ...place, uri })
    await removeEndpoint(platform, trace, operator, id)
    await guess()
    await purgeAfter(800)
    await platform.database.close()
    expect((await restoreAt(file, backup)).predecessor).toBe('read')
    const database = new Database(file, { readonly: true })
    const uris = database.query<{ uri: string }, []>('SELECT uri FROM redirect_uris').all()
    const endpoints = database.query('SELECT id FROM webhook_endpoints').all()
    database.close()
    expect(uris.map((row) => row.uri)).not.toContain(uri)
    expect(uris.length).toBe(2)
    expect(endpoints).toEqual([])
    platform = await openAsOperator(file)
  },
)

onSqlite('query plan')('the purge of refusals reads their own index and stops at the last day', () => {
  const database = new Database(file, { readonly: true })
  const plan = database
    .query<{ detail: string }, []>(
      "EXPLAIN QUERY PLAN SELECT id FROM audit_events WHERE actor_kind = 'anonymous' AND outcome = 'refused' AND id < +'aud_1' AND id > (SELECT min(id) FROM audit_events) ORDER BY id LIMIT 250",
    )
    .all()
  database.close()
  expect(plan.map(({ detail }) => detail).join('\n')).toContain('USING INDEX audit_events_anonymous (id>? AND id<?)')
})
