import { expect, test } from 'bun:test'
import { baseApp } from '../../src/http/app.ts'
import { signIn } from '../support/sign-in.ts'
import { openAppRoutes } from '../../src/pages/account/open-app.tsx'
import { installCodePath } from '../../src/pages/account/account-page.tsx'
import { openInstallPath } from '../../src/pages/open-button.tsx'
import { ticketBook } from '../../src/pages/visit.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { callWith, doorOf } from '../http/support/door.ts'
import { addEmbeddedVersion, embedOrigin, installEmbedded } from '../support/embedding.ts'
import { trace } from '../support/operator.ts'
import { addApp, addUser } from '../support/world.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const platform = await platformOfFile()

test('opening an app and renewing its codes share one limit of the user', async () => {
  const app = await addApp(platform, await addUser(platform))
  await addEmbeddedVersion(platform, app)
  const door = doorOf(platform, { authorize: { count: 2, seconds: 600 } })
  const pages = baseApp(door.log, () => null).use(openAppRoutes(door))
  const visit = async () => {
    const user = await addUser(platform)
    const id = await installEmbedded(platform, app, user)
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
  const [one, other] = [await visit(), await visit()]
  const answers = [await one.open(), await one.ask(), await one.ask(), await one.open()]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429])
  const opened = await other.open()
  expect(opened.status).toBe(200)
  const policy = opened.headers.get('content-security-policy')
  expect(policy).toContain(`frame-src ${embedOrigin(app)}; connect-src 'self';`)
})
