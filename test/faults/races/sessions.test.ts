import { expect, test } from 'bun:test'
import { call, codeOf } from '../../support/call.ts'
import { tally, together } from '../../support/crash.ts'
import { appToken, authorizeBody, signIn } from '../../support/world.ts'
import { openArena, race } from './support.ts'

const arena = openArena()

test('each of 200 parallel sign-ins is a session of its own, also after a crash, or is told to retry', async () => {
  const { server, user } = arena.world
  const { email, password } = user
  const answers = await together(
    200,
    async () => await call(server.url, 'POST', '~/api/session', { body: { email, password } }),
  )
  await arena.crash(0)

  const made = answers.filter(({ status }) => status === 200)
  const turnedAway = answers.filter(({ status }) => status !== 200)
  expect(made.length).toBeGreaterThan(0)
  expect(new Set(made.map(({ body }) => body.sessionToken)).size).toBe(made.length)
  const lawful = new Set(['unavailable', 'rate_limited']) // the line for hashing is full, or this address has enough in it
  expect(turnedAway.filter((answer) => !lawful.has(codeOf(answer)) || !answer.headers.has('retry-after'))).toEqual([])
  const states = await Promise.all(
    made.map(
      async ({ body }) => await call(arena.world.server.url, 'GET', '~/api/session', { token: body.sessionToken }),
    ),
  )
  expect(tally(states)).toEqual({ '200': made.length })
})

race(
  'a session that signs out during an authorization leaves no code that was not answered before',
  async (round) => {
    const { server, app, user } = arena.world
    const leaving = await signIn(server.url, user)
    const ask = async () =>
      await call(server.url, 'POST', '/oauth/authorize', { token: leaving, body: authorizeBody(app) })
    const codes = together(10, ask)
    if (round % 2 === 1) await Bun.sleep(1)
    expect((await call(server.url, 'DELETE', '~/api/session', { token: leaving })).status).toBe(204)
    await codes
    expect((await ask()).status).toBe(401)
  },
  10,
)

race(
  '200 app tokens issued at once all work, and one that is revoked during its use has ended once the revocation has answered',
  async (round) => {
    const { server, app } = arena.world
    const tokens = await together(200, async () => await appToken(server.url, app.development))
    const [revoked = '', ...kept] = tokens
    const uses = together(20, async () => await arena.appStatus(revoked))
    expect((await arena.post('/oauth/revoke', {}, undefined, revoked)).status).toBe(200)
    await uses
    expect(await arena.appStatus(revoked)).toBe(401)
    await arena.crash(round)

    expect(await arena.appStatus(revoked)).toBe(401)
    expect(new Set(await Promise.all(kept.map(arena.appStatus)))).toEqual(new Set([200]))
  },
)
