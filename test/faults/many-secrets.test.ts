import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { rotateCredential } from '../../src/operations/credentials/rotate-credential.ts'
import { call } from '../support/call.ts'
import { together } from '../support/crash.ts'
import { operator, trace } from '../support/operator.ts'
import { isLong, patience, rounds } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { findNeedles, findNeedlesInFile, findNeedlesInMemory, needleOf } from '../support/scan.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
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

/** Where the server runs and would leave its core dump. */
const folder = temporaryFolder()
const withCoreDumps = 'cd "$0" && ulimit -c unlimited && "$@"; exit $?'

/** Whether the system writes core dumps into the folder where a program runs, rather than giving them to another. */
const keepsCoreDumps =
  process.platform === 'linux' &&
  readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim() === 'core' &&
  Bun.spawnSync(['sh', '-c', withCoreDumps, '.', 'true']).exitCode === 0

let world: World
beforeAll(async () => {
  world = await createWorld({ under: keepsCoreDumps ? ['sh', '-c', withCoreDumps, folder] : [] })
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

test.if(keepsCoreDumps)(
  'nor in a core dump of the server, whose memory holds what it gave out lately',
  async () => {
    const { server } = world
    const looked = needles()
    const memory = isLong ? findNeedlesInMemory(looked, server.pid) : null
    process.kill(server.pid, 'SIGABRT')
    await server.stop()
    const dump = join(folder, readdirSync(folder).find((file) => file.startsWith('core')) ?? 'no core dump')

    expect(await Bun.file(dump).slice(1, 4).text()).toBe('ELF')
    expect(findNeedlesInFile(looked, dump).size).toBe(0)
    if (memory === null) return
    const inMemory = `${memory.found.size} in ${Math.round(memory.bytes / 1e6)} MB of memory`
    console.log(`  none in a core dump of ${statSync(dump).size} bytes; ${inMemory}`)
  },
  patience,
)
