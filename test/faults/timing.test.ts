import { afterAll, beforeAll, expect, test } from 'bun:test'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { authenticateAppToken } from '../../src/operations/authenticate.ts'
import { findRefused, recordRefusal } from '../../src/operations/refused-token.ts'
import { refusalOf } from '../operations/support/owner.ts'
import { call } from '../support/call.ts'
import { compareTimes } from '../support/compare-times.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode, openInstall } from '../support/embedding.ts'
import { type Either, forged, freshKey, type Which } from '../support/forged.ts'
import { trace } from '../support/operator.ts'
import { isLong, patience, rounds } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import {
  appToken,
  authorize,
  createWorld,
  endWorld,
  exchange,
  grantTokens,
  refreshBody,
  signIn,
  type World,
} from '../support/world.ts'

/*
 * Whether a refusal takes longer where there is something to refuse. A report, never a rule of the tests: what a clock says
 * depends on the machine. The rule that can be held without one is in `same-work.test.ts`.
 */
let world: World
beforeAll(async () => {
  if (isLong) world = await createWorld()
})
afterAll(async () => {
  if (isLong) await endWorld(world)
})

type Ask = (which: Which) => Promise<{ readonly status: number }>

const times = rounds(1)
/** As a client sees it. */
const prove = (name: string, prepare: () => Ask | Promise<Ask>, pairs = times): void =>
  test.if(isLong)(
    `a report of the time of refusals: ${name}`,
    async () => {
      const ask = await prepare()
      await compareTimes(name, pairs, async (which) => expect((await ask(which)).status).toBe(401))
    },
    patience,
  )

const post = async (path: string, body: unknown) => await call(world.server.url, 'POST', path, { body })
const get = async (path: string, token: string) => await call(world.server.url, 'GET', path, { token })

prove('the same call twice, for the noise', async () => {
  const wrong = forged('appToken', await appToken(world.server.url, world.app.development))
  return async () => await get('/me', wrong.unknown)
})

prove('client IDs', () => {
  const { clientId, clientSecret } = world.app.development
  const ids: Either = { known: clientId, unknown: `apc_dev_${freshKey()}` }
  const wrong = forged('clientSecretDevelopment', clientSecret).known
  return async (which) => await post('/token', { clientId: ids[which], clientSecret: wrong, scope: 'site:read' })
})

prove('client secrets', () => {
  const { clientId, clientSecret } = world.app.development
  const wrong = forged('clientSecretDevelopment', clientSecret)
  return async (which) => await post('/token', { clientId, clientSecret: wrong[which], scope: 'site:read' })
})

prove('app tokens', async () => {
  const wrong = forged('appToken', await appToken(world.server.url, world.app.development))
  return async (which) => await get('/me', wrong[which])
})

prove('user access tokens', async () => {
  const wrong = forged('userAccessToken', (await grantTokens(world)).accessToken)
  return async (which) => await get('/oauth/me', wrong[which])
})

prove('refresh tokens', async () => {
  const wrong = forged('refreshToken', (await grantTokens(world)).refreshToken)
  return async (which) => await post('/oauth/token', refreshBody(world.app, wrong[which]))
})

prove('authorization codes', async () => {
  const session = await signIn(world.server.url, world.user)
  const wrong = forged('authorizationCode', await authorize(world.server.url, session, world.app))
  return async (which) => await exchange(world.server.url, world.app, wrong[which])
})

prove('sessions', async () => {
  const wrong = forged('session', await signIn(world.server.url, world.user))
  return async (which) => await get('~/api/session', wrong[which])
})

prove('embedded sessions', async () => {
  const { platform, server, app, user } = world
  const install = await addEmbeddedInstall(platform, app, user)
  const code = await openInstall(platform, await signIn(server.url, user), install)
  const { clientId } = app.production
  const { body } = await exchangeInstallCode(server.url, { clientId, code, origin: embedOrigin(app) })
  const wrong = forged('embeddedSession', body.sessionToken)
  return async (which) => await get('/oauth/me', wrong[which])
})

prove(
  'users',
  async () => {
    // A password as the program hashes it; those of other tests are made cheaply.
    const emails: Either = { known: 'someone@example.com', unknown: 'nobodyy@example.com' }
    const who = ['--email', emails.known, '--name', 'Someone', '--generate-password']
    expect((await runProgram(['user', 'create', ...who, '--database', world.server.database])).code).toBe(0)
    return async (which) => await post('~/api/session', { email: emails[which], password: 'not the password' })
  },
  Math.ceil(times / 50),
)

type Refuse = (which: Which) => Promise<unknown>

/**
 * As the operation takes it, in the process that measures and without HTTP, where a single microsecond can be seen: its
 * reads, its event in the audit and its commit.
 */
const proveInside = (name: string, prepare: () => Refuse | Promise<Refuse>): void =>
  test.if(isLong)(
    `a report of the time of refusals inside the process: ${name}`,
    async () => {
      const refuse = await prepare()
      await compareTimes(`inside, ${name}`, times * 4, async (which) => {
        await refuse(which)
      })
    },
    patience,
  )

const issue = async (clientId: string, clientSecret: string) =>
  await refusalOf(issueAppToken(world.platform, trace, { clientId, clientSecret, scope: null }))

proveInside('the same call twice, for the noise', () => {
  const { clientId, clientSecret } = world.app.development
  const wrong = forged('clientSecretDevelopment', clientSecret)
  return async () => await issue(clientId, wrong.unknown)
})

proveInside('client IDs', () => {
  const { clientId, clientSecret } = world.app.development
  const ids: Either = { known: clientId, unknown: `apc_dev_${freshKey()}` }
  const wrong = forged('clientSecretDevelopment', clientSecret)
  return async (which) => await issue(ids[which], wrong.known)
})

proveInside('client secrets', () => {
  const { clientId, clientSecret } = world.app.development
  const wrong = forged('clientSecretDevelopment', clientSecret)
  return async (which) => await issue(clientId, wrong[which])
})

proveInside('app tokens', async () => {
  const wrong = forged('appToken', await appToken(world.server.url, world.app.development))
  return async (which) => {
    await authenticateAppToken(world.platform, wrong[which])
    await recordRefusal(world.platform, trace, await findRefused(world.platform, trace, wrong[which]), 'invalid_token')
  }
})
