import { expect, test } from 'bun:test'
import { createApp } from '../../src/operations/apps/apps.ts'
import { listAuditEvents } from '../../src/operations/audit/read-audit.ts'
import { createCredential, rotateCredential } from '../../src/operations/credentials/credentials.ts'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { createUser } from '../../src/operations/users/users.ts'
import { addEndpoint, rotateWebhookSecret } from '../../src/operations/webhooks/endpoints.ts'
import { withMovingClock } from '../support/moving-clock.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addUser } from '../support/world.ts'

const platform = withMovingClock(await platformOfFile())

const slug = 'newsletter'

test('what is created has the time of its audit event, although the clock moves on while the operation runs', async () => {
  const owner = await addUser(platform)
  const person = { email: 'new@example.com', name: 'New', password: 'correct horse battery', isOperator: false }
  const app = { ownerEmail: owner.email, name: 'Newsletter', slug, scopes: 'site:read' }
  const install = { slug, userEmail: owner.email, kind: 'site', resourceSlug: 'my-site' } as const
  const url = 'https://93.184.216.34/'
  const endpoint = { slug, environment: 'production', url, kinds: ['grant.created'] } as const
  const made = [
    await createUser(platform, trace, operator, person),
    await createApp(platform, trace, operator, app),
    await createCredential(platform, trace, operator, { slug, environment: 'production', label: null }),
    await createInstall(platform, trace, operator, install),
    await addEndpoint(platform, trace, operator, endpoint),
  ]
  const { clientId = '' } = made.find((record) => 'clientId' in record) ?? {}
  const rotated = await rotateCredential(platform, trace, operator, { clientId, graceHours: 1 })
  for (const { id, createdAt } of [...made, rotated]) expect(await timesOf(id)).toEqual([createdAt])
})

test('each webhook secret has the time of the audit event that a restore finds it by', async () => {
  const { id } = await addEndpoint(platform, trace, operator, {
    slug,
    environment: 'development',
    url: 'https://93.184.216.34/',
    kinds: ['grant.created'],
  })
  await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 1 })
  const secrets = await platform.database.queries.webhookEndpoints.liveSecrets(id, platform.clock.now())
  expect(secrets.map(({ createdAt }) => createdAt).toReversed()).toEqual(await timesOf(id))
})

/** When each event about this record happened, the first one first. */
const timesOf = async (id: string): Promise<number[]> => {
  const events = await listAuditEvents(platform, { slug: null, since: 0, limit: 1_000 })
  return events.filter(({ target }) => target === id).map(({ at }) => at)
}
