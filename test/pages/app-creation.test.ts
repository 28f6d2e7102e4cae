import { afterAll, expect, test } from 'bun:test'
import { operator as commandLine, trace } from '../support/operator.ts'
import { mayCreateApps } from '../../src/operations/acting-as.ts'
import { createApp } from '../../src/operations/apps/apps.ts'
import { endWorld } from '../support/world.ts'
import { createOperatorWorld } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

const world = await createOperatorWorld({ env: { APP_CREATION: 'operators' } })
const { url } = world.server
afterAll(async () => await endWorld(world))

const form = '/console/new'
const filled = (slug: string) => ({ name: 'Reports', slug, scopes: ['profile:read'] })

test('with APP_CREATION=operators only operators create apps in the console, and others are told so', async () => {
  const developer = await signedInBrowser(url, world.user)
  expect((await developer.get('/console')).text).not.toContain('Create an app')
  const page = await developer.get(form)
  expect(page.text).toContain('Only operators create apps on this server')
  expect(page.text).not.toContain('name="slug"')

  const operator = await signedInBrowser(url, world.operator)
  expect((await operator.get('/console')).text).toContain('Create an app')
  expect((await operator.submit(form, form, filled('by-operator'))).status).toBe(303)
  // The operation asks again, for a form from before the setting changed.
  const may = mayCreateApps({ appCreation: 'operators' })
  const { queries } = world.platform.database
  expect(await may(queries, world.user.id)).toMatchObject({ code: 'right_missing' })
  expect(await may(queries, world.operator.id)).toBeNull()
})

test('with QUOTA_APPS=0 no account gets an app', async () => {
  const none = { ...world.platform, quotas: { ...world.platform.quotas, apps: 0 } }
  const input = { ownerEmail: world.user.email, name: 'None', slug: 'none', scopes: 'site:read' }
  const refusal = createApp(none, trace, commandLine, input)
  await expect(refusal).rejects.toMatchObject({
    code: 'quota_exceeded',
    message: expect.stringContaining('No account can have an app'),
  })
})
