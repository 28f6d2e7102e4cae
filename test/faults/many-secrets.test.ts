import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type SecretKind, secretKindOf, secretPrefixes } from '../../src/domain/secret.ts'
import { inviteMember } from '../../src/operations/apps/members.ts'
import { createResetLink } from '../../src/operations/users/passwords.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { rotateCredential } from '../../src/operations/credentials/credentials.ts'
import { call } from '../support/call.ts'
import { together } from '../support/crash.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode, openInstall } from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import { isLong, patience, rounds } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { findNeedles, findNeedlesInFile, findNeedlesInMemory, needleOf } from '../support/scan.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, appToken, authorize, exchange, refresh, signIn } from '../support/world.ts'

const wanted = rounds(400)
const issued: { readonly kind: SecretKind; readonly needle: string }[] = []

const remember = (secret: string): void => {
  const kind = secretKindOf(secret)
  const needle = needleOf(secret)
  if (kind === null || needle === null) throw new Error('this is no secret of ours')
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
if (!keepsCoreDumps)
  console.warn('The search of a core dump is skipped: this system gives them to another program, or to none.')

const world = await worldOfFile({ under: keepsCoreDumps ? ['sh', '-c', withCoreDumps, folder] : [] })

/** One of each kind that is issued over HTTP: nine secrets. */
const issueOne = async (session: string): Promise<void> => {
  const { server, app } = world
  const code = await authorize(server.url, session, app)
  remember(code)
  const first = (await exchange(server.url, app, code)).body
  const second = (await refresh(server.url, app, first.refreshToken)).body
  for (const { accessToken, refreshToken } of [first, second]) {
    remember(accessToken)
    remember(refreshToken)
  }
  for (let count = 0; count < 4; count += 1) {
    const token = await appToken(server.url, app.development)
    remember(token)
    if (count === 0) await call(server.url, 'GET', '/me', { token })
  }
}

const issueOfOperators = async (): Promise<void> => {
  const { platform, server, user } = world
  const { slug, development, production } = await addApp(platform, user)
  const { clientId, clientSecret } = development
  remember(clientSecret)
  remember(production.clientSecret)
  const rotated = await rotateCredential(platform, trace, operator, { clientId, graceHours: 0 })
  remember(rotated.clientSecret)
  await appToken(server.url, { clientId, clientSecret: rotated.clientSecret })
  remember(await signIn(server.url, user))
  const asked = { name: 'Product API', rights: ['tokens:introspect'], networks: [], expiresInDays: null }
  remember((await createServiceKey(platform, trace, operator, asked)).secret)
  const { link } = await createResetLink(platform, trace, operator, user.id)
  remember(new URL(link).searchParams.get('link') ?? '')
  const invited = { slug, email: 'invited@example.com', role: 'admin', invitedBy: user.id } as const
  const invitation = await inviteMember(platform, trace, operator, invited)
  remember(new URL(invitation.link).searchParams.get('link') ?? '')
}

/** As a page in the builder gets them. */
const issueOfFrames = async (session: string, installId: string): Promise<void> => {
  const { platform, server, app } = world
  const code = await openInstall(platform, session, installId)
  remember(code)
  const { clientId } = app.production
  remember((await exchangeInstallCode(server.url, { clientId, code, origin: embedOrigin(app) })).body.sessionToken)
}

const needles = () => new Set(issued.map(({ needle }) => needle))

test(
  'none of many secrets of every kind is in the database, its WAL, a backup, the log or the metrics',
  async () => {
    const { server, platform, app, user } = world
    const session = await signIn(server.url, user)
    const installId = await addEmbeddedInstall(platform, app, user)
    for (let count = 0; count < 20; count += 1) {
      await issueOfOperators()
      await issueOfFrames(session, installId)
    }
    while (issued.length < wanted) await together(32, async () => await issueOne(session))
    expect(new Set(issued.map(({ needle }) => needle)).size).toBe(issued.length)
    const kinds = new Set<string>(issued.map(({ kind }) => kind))
    expect(Object.keys(secretPrefixes).filter((kind) => !kinds.has(kind))).toEqual(['signInRequest']) // never stored, and nothing without its cookie
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
  'none of many secrets is in a core dump of the server, although its memory has the recent ones',
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
