import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { rotateCredential } from '../../src/operations/credentials/rotate-credential.ts'
import { call } from '../support/call.ts'
import { together } from '../support/crash.ts'
import { operator, trace } from '../support/operator.ts'
import { isLong, patience, rounds } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { findNeedles, findNeedlesInFile, findNeedlesInMemory, needleOf } from '../support/scan.ts'
import {
  addApp,
  appToken,
  authorize,
  createWorld,
  endWorld,
  exchange,
  refresh,
  signIn,
  type World,
} from '../support/world.ts'

const wanted = rounds(400)
const issued: { readonly kind: string; readonly needle: string }[] = []

const remember = (kind: string, secret: string): void => {
  const needle = needleOf(secret)
  if (needle === null) throw new Error(`${kind} is no secret of ours`)
  issued.push({ kind, needle })
}

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await endWorld(world))

/** One of each kind that is issued over HTTP: nine secrets. */
const issueOne = async (session: string): Promise<void> => {
  const { server, app } = world
  const code = await authorize(server.url, session, app)
  remember('code', code)
  const first = (await exchange(server.url, app, code)).body
  const second = (await refresh(server.url, app, first.refreshToken)).body
  for (const { accessToken, refreshToken } of [first, second]) {
    remember('access token', accessToken)
    remember('refresh token', refreshToken)
  }
  for (let count = 0; count < 4; count += 1) {
    const token = await appToken(server.url, app.development)
    remember('app token', token)
    if (count === 0) await call(server.url, 'GET', '/me', { token })
  }
}

const issueOfOperators = async (): Promise<void> => {
  const { platform, server, user } = world
  const { clientId, clientSecret } = (await addApp(platform, user)).development
  remember('client secret', clientSecret)
  const rotated = await rotateCredential(platform, trace, operator, { clientId, graceHours: 0 })
  remember('client secret', rotated.clientSecret)
  await appToken(server.url, { clientId, clientSecret: rotated.clientSecret })
  remember('session', await signIn(server.url, user))
}

const needles = () => new Set(issued.map(({ needle }) => needle))

test(
  'of many secrets of every kind none is in the database, its WAL, a backup, the log, the metrics or an answer that refuses',
  async () => {
    const { server, user } = world
    const session = await signIn(server.url, user)
    for (let count = 0; count < 20; count += 1) await issueOfOperators()
    while (issued.length < wanted) await together(32, async () => await issueOne(session))
    expect(new Set(issued.map(({ needle }) => needle)).size).toBe(issued.length)
    const backup = join(server.database, '..', 'backup.db')
    expect((await runProgram(['backup', backup, '--database', server.database])).code).toBe(0)

    const looked = needles()
    expect(findNeedles(looked, `…${issued[0]?.needle}…`).size).toBe(1) // it would be found
    for (const file of [server.database, `${server.database}-wal`, backup]) {
      expect(existsSync(file)).toBe(true)
      expect({ file, found: findNeedlesInFile(looked, file).size }).toEqual({ file, found: 0 })
    }
    const metrics = (await call(server.url, 'GET', '~/metrics')).text
    for (const text of [server.log(), server.output(), metrics]) expect(findNeedles(looked, text).size).toBe(0)
    if (isLong)
      console.log(`  ${issued.length} secrets issued, none in ${statSync(server.database).size} bytes of database`)
  },
  patience,
)

/** Not a rule but a report: what a garbage-collected program still holds of what it has long forgotten. */
test.if(isLong && process.platform === 'linux')(
  'what a core dump holds once the requests are over',
  async () => {
    const { server } = world
    const looked = needles()
    const last = new Set(issued.slice(-1_000).map(({ needle }) => needle))
    for (const idleSeconds of [0, 30]) {
      await Bun.sleep(idleSeconds * 1_000)
      for (let count = 0; count < 200; count += 1) await call(server.url, 'GET', '~/healthz')
      const { found, bytes } = findNeedlesInMemory(looked, server.pid)
      const kinds: Record<string, number> = {}
      for (const { kind, needle } of issued) if (found.has(needle)) kinds[kind] = (kinds[kind] ?? 0) + 1
      console.log(
        `  a core dump of ${Math.round(bytes / 1e6)} MB, ${idleSeconds} s later, would hold ${found.size} of ${issued.length} secrets, ` +
          `${found.intersection(last).size} of them among the last 1,000 issued; by kind ${JSON.stringify(kinds)}`,
      )
    }
  },
  patience,
)
