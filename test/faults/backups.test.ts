import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { call, codeOf } from '../support/call.ts'
import { openAsOperator } from '../support/operator.ts'
import { programCommand } from '../support/program.ts'
import { isLong, patience, rounds, seed, seeded } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { startServer } from '../support/running-server.ts'
import { appToken, createWorld, refresh, type World } from '../support/world.ts'
import { emptyLedger, type Ledger, live } from './backup-load.ts'
import { faultsIn } from '../support/database-file.ts'

let counted = 0

/** Kills a backup at some moment, or in the middle of its writing; false when it was done before. */
const killBackup = async (database: string, to: string, chance: (below: number) => number): Promise<boolean> => {
  const child = Bun.spawn([...programCommand, 'backup', to, '--database', database], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const least = chance(2) // it is there, or it has something in it
  const isWriting = () =>
    readdirSync(dirname(to)).some((name) => {
      const found = statSync(join(dirname(to), name), { throwIfNoEntry: false })
      return name.endsWith('.unfinished') && found !== undefined && found.size >= least
    })
  if (chance(4) === 0) await Promise.race([child.exited, Bun.sleep(chance(600))])
  else {
    while (child.exitCode === null && !isWriting()) await Bun.sleep(1)
    await Bun.sleep(chance(40))
  }
  child.kill('SIGKILL')
  return (await child.exited) !== 0
}

/** Something to write for a while: artifacts that nothing compresses. */
const fatten = async ({ server, app }: World): Promise<void> => {
  const token = await appToken(server.url, app.development)
  for (let part = 0; part < (isLong ? 6 : 2); part += 1) {
    const bytes = Buffer.alloc(4 * 1024 * 1024)
    for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
    const artifact = { filename: 'app.zip', contentBase64: bytes.toString('base64') }
    const made = await call(server.url, 'POST', '/versions', { token, body: { version: `0.0.${part}`, artifact } })
    expect(made.status).toBe(201)
  }
}

/** A file that a killed backup left is refused or complete; `restore` to another place finds out. */
const expectHonest = async (file: string, folder: string): Promise<'refused' | 'whole'> => {
  const place = join(folder, `place-${(counted += 1)}.db`)
  const { code, stderr } = await runProgram(['restore', file, '--database', place])
  if (code !== 0) {
    expect(stderr).toMatch(/is empty|damaged|not a database|is no|cannot be read/)
    expect(existsSync(place)).toBe(false)
    return 'refused'
  }
  expect((await runProgram(['check', '--database', place])).code).toBe(0)
  return 'whole'
}

const expectKept = async (world: World, ledger: Ledger, before: number): Promise<void> => {
  const { queries } = world.platform.database
  for (const { tokens, at } of ledger.grants) {
    if (at < before) expect(await queries.grants.byId(tokens.grantId)).not.toBeNull()
  }
  for (const { version, at } of ledger.versions) {
    if (at < before) expect(await queries.versions.byName(world.app.id, version)).not.toBeNull()
  }
  for (const { id, clientId, clientSecret, at } of ledger.secrets) {
    if (at >= before || ledger.revokedSecrets.has(id)) continue
    const body = { clientId, clientSecret, scope: 'site:read' }
    expect((await call(world.server.url, 'POST', '/token', { body })).status).toBe(200)
  }
}

const expectEnded = async ({ server, app }: World, ledger: Ledger): Promise<void> => {
  for (const { token } of ledger.appTokens) {
    expect((await call(server.url, 'GET', '/me', { token })).status).toBe(401)
  }
  for (const { tokens } of ledger.grants) {
    expect((await call(server.url, 'GET', '/oauth/me', { token: tokens.accessToken })).status).toBe(401)
    expect((await refresh(server.url, app, tokens.refreshToken)).status).toBe(401)
  }
  for (const token of ledger.sessions) {
    expect((await call(server.url, 'GET', '~/api/session', { token })).status).toBe(401)
  }
  for (const { id, clientId, clientSecret } of ledger.secrets) {
    if (!ledger.revokedSecrets.has(id)) continue
    const refused = await call(server.url, 'POST', '/token', { body: { clientId, clientSecret, scope: 'site:read' } })
    expect(codeOf(refused)).toBe('invalid_client')
  }
}

const backUpTo = async (file: string, { server }: World): Promise<void> =>
  expect((await runProgram(['backup', file, '--database', server.database])).code).toBe(0)

/** One life: load, backups, killed ones and whole ones, more load, a restore of the older, then of the newer, and what the ledger says. */
const round = async (world: World, chance: (below: number) => number, told: Record<string, number>): Promise<World> => {
  const ledger = emptyLedger()
  const folder = join(world.server.database, '..', `round-${(counted += 1)}`)
  mkdirSync(folder, { mode: 0o700 })
  const done = new AbortController()
  const living = live(world, ledger, done.signal)
  await Bun.sleep(200)
  const older = `${folder}-older.db`
  await backUpTo(older, world)
  const olderAt = performance.now()

  const half = join(folder, 'half.db')
  for (let kills = 0; kills < (isLong ? 4 : 2); kills += 1) {
    if (await killBackup(world.server.database, half, chance)) told['killed'] = (told['killed'] ?? 0) + 1
    for (const name of readdirSync(folder)) {
      // Under the requested name is a complete backup or none; an unfinished one has another name.
      expect(name === 'half.db' || name.endsWith('.unfinished') || name.includes('.unfinished-')).toBe(true)
      if (/-(?:wal|shm|journal)$/.test(name)) continue
      const verdict = await expectHonest(join(folder, name), join(world.server.database, '..'))
      const kind =
        name === 'half.db'
          ? verdict
          : `left ${verdict} with ${statSync(join(folder, name)).size > 0 ? 'something' : 'nothing'} in it`
      if (name === 'half.db') expect(verdict).toBe('whole')
      told[kind] = (told[kind] ?? 0) + 1
    }
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
  }

  const whole = join(folder, 'whole.db')
  const began = performance.now()
  await backUpTo(whole, world)
  await Bun.sleep(300)
  done.abort()
  await living
  await world.platform.database.close()
  if (chance(2) === 0) await world.server.kill()
  else expect(await world.server.stop()).toBe(0)
  // What was made after the older one and revoked after the newer one is unknown to what the newer one replaces.
  for (const backup of [older, whole]) {
    const restored = await runProgram(['restore', backup, '--database', world.server.database])
    expect(restored).toMatchObject({ code: 0, stderr: '' })
  }
  const { secrets, revokedSecrets } = ledger
  const between = secrets.filter(({ id, at }) => at > olderAt && at < began && revokedSecrets.has(id)).length
  told['revoked secrets of between two backups'] = (told['revoked secrets of between two backups'] ?? 0) + between
  rmSync(folder, { recursive: true })
  rmSync(older)

  const server = await startServer({ database: world.server.database })
  const after = { ...world, server, platform: await openAsOperator(server.database) }
  await expectEnded(after, ledger)
  await expectKept(after, ledger, began)
  expect(await faultsIn(server.database)).toEqual([])
  for (const [kind, list] of Object.entries(ledger)) {
    told[kind] = (told[kind] ?? 0) + (list instanceof Set ? list.size : list.length)
  }
  for (const name of readdirSync(join(server.database, '..'))) {
    if (/\.before-|^place-/.test(name)) rmSync(join(server.database, '..', name))
  }
  return after
}

test(
  'a backup under load has everything acknowledged before it, a killed one leaves no backup, and a restore revives nothing',
  async () => {
    let world = await createWorld()
    const chance = seeded(seed)
    const told: Record<string, number> = {}
    await fatten(world)
    for (let count = 0; count < rounds(1); count += 1) world = await round(world, chance, told)
    if (isLong)
      console.log(
        `  ${Object.entries(told)
          .map(([kind, many]) => `${kind}: ${many}`)
          .join(', ')}`,
      )
    await world.platform.database.close()
    expect(await world.server.stop()).toBe(0)
  },
  patience,
)
