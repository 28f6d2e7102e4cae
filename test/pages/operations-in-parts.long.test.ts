import { beforeEach, describe, expect, test } from 'bun:test'
import { addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { deleteApp } from '../../src/operations/apps/apps.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addGrant } from '../support/grant-family.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { addOperator } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

// Forms whose operation takes more than one transaction. Each runs to its end, whatever its own first part has changed.

/** One more than one transaction ends or restarts. */
const many = 501

const world = await worldOfFile()
const { platform } = world
const { queries: q } = platform.database

let user: Login
let operator: Login
let app: AppInWorld
let endpoint: string
beforeEach(async () => {
  user = await addUser(platform)
  operator = await addOperator(platform, 'Olive Operator')
  app = await addApp(platform, user)
})

const grantMany = async (to: Login) => {
  await Promise.all(Array.from({ length: many }, async () => await addGrant(platform, app, to)))
}
/** An endpoint that has given up many events. */
const addDeafEndpoint = async () => {
  const given = {
    slug: app.slug,
    environment: 'development',
    url: 'https://127.0.0.1/hooks',
    kinds: ['app.suspended'],
  } as const
  const open = { ...platform, webhooks: { ...platform.webhooks, check: async () => null } }
  endpoint = (await addEndpoint(open, trace, commandLine, given)).id
  const now = platform.clock.now()
  await platform.database.transaction(async (change) => {
    for (let n = 0; n < many; n += 1) {
      const id = `evt_${platform.random.uuidHex(now)}`
      const event = { id, appId: app.id, environment: 'development', kind: 'app.suspended', data: {} } as const
      const position = await change.webhookEvents.put(event, now)
      const delivery = { position, endpointId: endpoint, state: 'failed', attempts: 9, nextAttemptAt: null } as const
      await change.webhookEvents.putDelivery(delivery)
    }
  })
}
const isOver = async (
  of: { readonly kind: 'user'; readonly userId: string } | { readonly kind: 'app'; readonly appId: string },
) => (await q.access.openGrants(of, '', 10)).length === 0
const appIsOver = async () => await isOver({ kind: 'app', appId: app.id })
const grantsOf = async ({ id }: Login) => await isOver({ kind: 'user', userId: id })

type Case = {
  readonly step: string
  readonly by: () => Login
  readonly path: () => string
  readonly fields?: () => Readonly<Record<string, string>>
  readonly prepare: () => Promise<unknown>
  /** Whether the last part has been done. */
  readonly isDone: () => Promise<boolean>
  /** The event that the last part records. */
  readonly event: string
}

const cases: readonly Case[] = [
  {
    step: 'a member deletes an app',
    by: () => user,
    path: () => `/console/${app.slug}/delete`,
    fields: () => ({ typed: app.slug }),
    prepare: async () => await grantMany(user),
    isDone: appIsOver,
    event: 'app.access_ended',
  },
  {
    step: 'a member deletes an app that nobody uses',
    by: () => user,
    path: () => `/console/${app.slug}/delete`,
    fields: () => ({ typed: app.slug }),
    prepare: async () => undefined,
    isDone: appIsOver,
    event: 'app.access_ended',
  },
  {
    step: 'an operator deletes an app',
    by: () => operator,
    path: () => `/desk/apps/${app.slug}/delete`,
    fields: () => ({ typed: app.slug }),
    prepare: async () => await grantMany(user),
    isDone: appIsOver,
    event: 'app.access_ended',
  },
  {
    step: 'an operator undeletes an app whose deletion was interrupted',
    by: () => operator,
    path: () => `/desk/apps/${app.slug}/undelete`,
    prepare: async () => {
      await deleteApp(platform, trace, commandLine, app.slug)
      await grantMany(user)
    },
    isDone: async () => (await appIsOver()) && (await q.apps.byId(app.id))?.deletedAt === null,
    event: 'app.undeleted',
  },
  {
    step: 'an operator ends the access of an app',
    by: () => operator,
    path: () => `/desk/apps/${app.slug}/end-access`,
    fields: () => ({ typed: app.slug }),
    prepare: async () => await grantMany(user),
    isDone: appIsOver,
    event: 'app.access_ended',
  },
  {
    step: 'an operator ends the access of a user',
    by: () => operator,
    path: () => `/desk/users/${user.id}/end-access`,
    fields: () => ({ typed: user.email }),
    prepare: async () => await grantMany(user),
    isDone: async () => await grantsOf(user),
    event: 'user.access_ended',
  },
  {
    step: 'a person revokes an app',
    by: () => user,
    path: () => `/account/apps/${app.development.clientId}/revoke`,
    prepare: async () => await grantMany(user),
    isDone: async () => await grantsOf(user),
    event: 'grant.revoked',
  },
  {
    step: 'a person revokes every app',
    by: () => user,
    path: () => '/account/apps/revoke-all',
    fields: () => ({ typed: user.email }),
    prepare: async () => await grantMany(user),
    isDone: async () => await grantsOf(user),
    event: 'grant.revoked',
  },
  {
    step: 'a member sends every failed event again',
    by: () => user,
    path: () => `/console/${app.slug}/webhooks/${endpoint}/resend-failed`,
    prepare: addDeafEndpoint,
    isDone: async () => (await q.webhookEvents.failedPositions(endpoint, 0, 10)).length === 0,
    event: 'webhook.resent',
  },
]

/** The page with the form, or with the link to it. */
const pageOf = (path: string) => path.replace(/\/[^/]+$/, '')

describe('a form whose operation takes several transactions runs to its end:', () => {
  for (const { step, by, path, fields, prepare, isDone, event } of cases) {
    test(step, async () => {
      await prepare()
      const browser = await signedInBrowser(world.server.url, by())
      const page = (await browser.get(path())).status === 200 ? path() : pageOf(path())
      const answer = await browser.submit(page, path(), fields?.() ?? {})
      expect([answer.status, await isDone()]).toEqual([303, true])
      const events = (await auditEvents(platform)).filter(
        ({ actorId, action }) => actorId === by().id && action === event,
      )
      expect(events.at(-1)).toMatchObject({ outcome: 'done' })
    })
  }
})
