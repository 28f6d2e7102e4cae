import { expect, test } from 'bun:test'
import { moveInstall } from '../../src/operations/installs/installs.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import { call } from '../support/call.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode, openInstall } from '../support/embedding.ts'
import { countRows } from '../support/expired-rows.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile({
  env: {
    LIFETIME_INSTALL_SESSION_CODE: '1',
    LIFETIME_EMBEDDED_SESSION: '1',
    RATE_LIMIT: 'on',
    RATE_LIMIT_FAILED: '5/300',
  },
})
const { url } = world.server

const scene = async () => {
  const { platform } = world
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  const install = await addEmbeddedInstall(platform, app, user)
  const session = await signIn(url, user)
  return { user, app, install, session, origin: embedOrigin(app), clientId: app.production.clientId }
}

/** Issued by the test process, whose settings give codes a lifetime of a minute. */
const longCode = async ({ session, install }: Awaited<ReturnType<typeof scene>>) =>
  await openInstall(world.platform, session, install)
const shortCode = async ({ session, install }: Awaited<ReturnType<typeof scene>>) => {
  const lifetimes = { ...world.platform.lifetimes, installSessionCode: 1 }
  return await openInstall({ ...world.platform, lifetimes }, session, install)
}

test('a code expires after its lifetime, and so does the session that it gave', async () => {
  const there = await scene()
  const late = await shortCode(there)
  const answer = await exchangeInstallCode(url, { ...there, code: await longCode(there) })
  expect(answer.body.expiresIn).toBe(1)
  await Bun.sleep(1_050)
  expectRefusal(await exchangeInstallCode(url, { ...there, code: late }), 'invalid_grant')
  const token = answer.body.sessionToken
  const refusal = await call(url, 'GET', '/oauth/me', { token, headers: { Origin: there.origin } })
  expectRefusal(refusal, 'invalid_token')
  expect(refusal.headers.get('access-control-allow-origin')).toBe(there.origin)
})

test('an install that ends while codes are exchanged leaves no session that works', async () => {
  const there = await scene()
  const codes = await Promise.all(Array.from({ length: 4 }, async () => await longCode(there)))
  const ending = moveInstall(world.platform, trace, operator, { id: there.install, step: 'deactivate' })
  const exchanges = codes.map(async (code) => await exchangeInstallCode(url, { ...there, code }))
  const answers = await Promise.all(exchanges)
  await ending
  for (const { status, body } of answers) {
    if (status !== 200) continue
    const options = { token: body.sessionToken, headers: { Origin: there.origin } }
    expectRefusal(await call(url, 'GET', '/oauth/me', options), 'invalid_token')
  }
})

test('an address that guesses codes is limited, and the page is told so', async () => {
  const there = await scene()
  const code = await longCode(there)
  const wrong = { ...there, code: `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}` }
  const answers = []
  for (let tried = 0; tried < 7; tried += 1) answers.push(await exchangeInstallCode(url, wrong))
  expect(answers.map(({ status }) => status)).toContain(429)
  expect(answers.at(-1)?.headers.get('access-control-allow-origin')).toBe(there.origin)
  expect(answers.at(-1)?.headers.has('retry-after')).toBe(true)
})

test('a purge removes codes and embedded sessions that are older than the longest user session, and no others', async () => {
  const { platform, server } = world
  const there = await scene()
  await exchangeInstallCode(url, { ...there, code: await longCode(there) })
  const tables = ['install_session_codes', 'embedded_sessions'] as const
  const before = await countRows(server.database, ...tables)
  const purge = async (aheadMs: number) => {
    const clock = { ...platform.clock, purgeBefore: () => platform.clock.purgeBefore() + aheadMs }
    return await purgeAll(
      { ...platform, clock },
      trace,
      async () => undefined,
      () => false,
    )
  }
  const hour = 3_600_000
  expect(await purge(11 * hour)).toMatchObject({ install_session_codes: 0, embedded_sessions: 0 })
  const removed = await purge(13 * hour)
  expect(before).toEqual({
    install_session_codes: removed.install_session_codes,
    embedded_sessions: removed.embedded_sessions,
  })
  expect(await countRows(server.database, ...tables)).toEqual({ install_session_codes: 0, embedded_sessions: 0 })
})
