import { expect, test } from 'bun:test'
import { signIn } from '../support/sign-in.ts'
import { openAppRoutes } from '../../src/pages/account/open-app.tsx'
import { installCodePath } from '../../src/pages/account/account-page.tsx'
import { openInstallPath } from '../../src/pages/open-button.tsx'
import { ticketBook } from '../../src/pages/visit.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { callWith, doorOf, servedBy } from '../http/support/door.ts'
import { addEmbeddedVersion, embedOrigin, installEmbedded } from '../support/embedding.ts'
import { trace } from '../support/operator.ts'
import { addApp, addUser, type Login } from '../support/world.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const platform = await platformOfFile()

test('an app that renews its codes in a loop uses up the share of its own install, and none of its user', async () => {
  const app = await addApp(platform, await addUser(platform))
  await addEmbeddedVersion(platform, app)
  const limit = { count: 2, seconds: 600 }
  const door = doorOf(platform, { authorize: limit, write: limit, daily: limit })
  const pages = servedBy(openAppRoutes, door)
  const visit = async (user: Login, kind: 'site' | 'store') => {
    const id = await installEmbedded(platform, app, user, { kind })
    const { sessionToken } = await signIn(platform, trace, user)
    const send = async (path: string, ticket?: string) => {
      const headers = { cookie: sessionCookieOf(platform.publicUrl, sessionToken), 'sec-fetch-site': 'same-origin' }
      const body = ticket === undefined ? {} : { method: 'POST', body: `ticket=${encodeURIComponent(ticket)}` }
      const request = new Request(`http://localhost${path}`, { headers, ...body })
      callWith(request)
      return await pages.handle(request)
    }
    return {
      open: async () => await send(openInstallPath(id)),
      ask: async () => await send(installCodePath(id), ticketBook(door, sessionToken).issue(installCodePath(id))),
    }
  }
  const user = await addUser(platform)
  const [one, other] = [await visit(user, 'site'), await visit(user, 'store')]
  const looped = [await one.ask(), await one.ask(), await one.ask()]
  expect(looped.map(({ status }) => status)).toEqual([200, 200, 429])
  expect((await other.ask()).status).toBe(200)
  for (const policy of ['write', 'daily'] as const) {
    expect(door.limiter.peek(policy, `account ${user.id}`).remaining).toBe(limit.count)
  }
  const opened = await one.open()
  expect([opened.status, (await other.open()).status, (await other.open()).status]).toEqual([200, 200, 429])
  const policy = opened.headers.get('content-security-policy')
  expect(policy).toContain(`frame-src ${embedOrigin(app)}; connect-src 'self';`)
})
