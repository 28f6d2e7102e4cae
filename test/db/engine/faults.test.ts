import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { straceWorks } from '../../faults/power-loss/recording.ts'
import { eventually } from '../../support/crash.ts'
import { startTiny } from './support/start-tiny.ts'
import { faultsIn, openTiny, temporaryFolder, type TinyStore } from './support/tiny-store.ts'
import { needs } from '../../support/needs.ts'

const traceable = straceWorks()

/** Makes some calls of a process fail as a disk would; `when` counts in each thread. */
const failing = (call: string, error: string, when: string, path: readonly string[] = []) => [
  ...'strace -f -qq -o /dev/null'.split(' '),
  `--trace=${call}`,
  `--inject=${call}:error=${error}:when=${when}`,
  ...path.flatMap((one) => ['-P', one]),
]

/** Adds notes until one is refused. Returns those that were acknowledged. */
const addUntilRefused = async (
  ask: (id: string) => Promise<unknown>,
): Promise<{ added: string[]; refusal: unknown }> => {
  const added: string[] = []
  for (;;) {
    const id = `n${added.length}`
    const answer = await ask(id)
    if (answer !== 'added') return { added, refusal: answer }
    added.push(id)
  }
}

needs('strace').test.skipIf(!traceable)(
  'after a failed sync nothing is written any more, reads go on, and a restart has every answered change',
  async () => {
    using folder = temporaryFolder()
    const server = await startTiny(folder.file, 'server', failing('fdatasync', 'EIO', '5+'))
    const add = (id: string) => server.ask({ kind: 'add', id })

    const { added, refusal } = await addUntilRefused(add)

    expect(added.length).toBeGreaterThan(0)
    expect(refusal).toEqual({ refused: 'unavailable' })
    expect(await add('later')).toEqual({ refused: 'unavailable' })
    expect(await server.ask({ kind: 'health' })).toMatchObject({
      writable: false,
      reason: expect.stringContaining('restart'),
    })
    expect(await server.ask({ kind: 'faults' })).toBe(1)
    expect(await server.ask({ kind: 'count' })).toBeGreaterThanOrEqual(added.length)

    // Its exit leaves the WAL as it is: copying it would trust what the disk refused.
    const database = readFileSync(folder.file)
    expect(await server.exit()).not.toBe(0)
    expect(existsSync(`${folder.file}-wal`)).toBe(true)
    expect(readFileSync(folder.file).equals(database)).toBe(true)

    const store = await openTiny(folder.file)
    expect(await store.queries.ids()).toEqual(expect.arrayContaining(added))
    expect(await store.queries.find('later')).toBeNull()
    expect(await faultsIn(folder.file)).toEqual([])
    await store.close()
  },
)

needs('strace').test.skipIf(!traceable)('after a failed write nothing is written any more', async () => {
  using folder = temporaryFolder()
  await (await openTiny(folder.file)).close()
  const server = await startTiny(folder.file, 'server', failing('pwrite64', 'EIO', '30+', [`${folder.file}-wal`]))
  const add = (id: string) => server.ask({ kind: 'add', id })

  const { added, refusal } = await addUntilRefused(add)

  expect(refusal).toEqual({ refused: 'unavailable' })
  expect(await add('later')).toEqual({ refused: 'unavailable' })
  expect(await server.ask({ kind: 'health' })).toMatchObject({ writable: false })
  expect(await server.ask({ kind: 'faults' })).toBe(1)
  await server.kill()

  const store = await openTiny(folder.file)
  expect(await store.queries.ids()).toEqual(expect.arrayContaining(added))
  expect(await faultsIn(folder.file)).toEqual([])
  await store.close()
})

needs('strace').test.skipIf(!traceable)(
  'a full disk refuses what it cannot take, and writing goes on once there is room',
  async () => {
    using folder = temporaryFolder()
    await (await openTiny(folder.file)).close()
    const server = await startTiny(
      folder.file,
      'server',
      failing('pwrite64', 'ENOSPC', '30..31', [`${folder.file}-wal`]),
    )
    const add = (id: string) => server.ask({ kind: 'add', id })

    const { added, refusal } = await addUntilRefused(add)
    const full = await server.ask({ kind: 'health' })
    const recovered = await eventually(
      () => server.ask({ kind: 'health' }),
      (health) => JSON.stringify(health).includes('true'),
    )

    expect(refusal).toEqual({ refused: 'unavailable' })
    expect(full).toEqual({
      writable: false,
      problem: 'full',
      reason: expect.stringMatching(/is full, as df -h \S+ shows: make room\./),
    })
    expect(recovered).toEqual({ writable: true, problem: null, reason: null })
    expect(await server.ask({ kind: 'faults' })).toBe(0)
    expect(await add('there is room again')).toBe('added')
    await server.kill()

    const store = await openTiny(folder.file)
    expect((await store.queries.ids()).sort()).toEqual([...added, 'there is room again'].sort())
    expect(await faultsIn(folder.file)).toEqual([])
    await store.close()
  },
)

needs('strace').test.skipIf(!traceable)(
  'a checkpoint that fails again and again stops nobody, and the WAL is copied once the disk takes it',
  async () => {
    using folder = temporaryFolder()
    await (await openTiny(folder.file)).close()
    const before = readFileSync(folder.file)
    const isCopied = () => !readFileSync(folder.file).equals(before)
    const full = failing('pwrite64', 'ENOSPC', '1..5', [folder.file]) // of the database alone: the WAL has room
    const server = await startTiny(folder.file, 'server', full, 10)

    const answers = new Set<unknown>()
    let added = 0
    for (; added < 2_000 && !isCopied(); added += 1) {
      answers.add(await server.ask({ kind: 'add', id: `n${added}` }))
    }

    expect(isCopied()).toBe(true)
    expect(answers).toEqual(new Set(['added']))
    expect(await server.ask({ kind: 'health' })).toEqual({ writable: true, problem: null, reason: null })
    expect(await server.ask({ kind: 'faults' })).toBe(0)
    expect(await server.ask({ kind: 'statistics' })).toMatchObject({ failedCheckpoints: 5 })
    await server.kill()

    const store = await openTiny(folder.file)
    expect(await store.queries.count()).toBe(added)
    expect(await faultsIn(folder.file)).toEqual([])
    await store.close()
  },
)

const moved: readonly (readonly [what: string, move: (file: string) => void])[] = [
  ['the database was deleted', (file) => rmSync(file)],
  ['the WAL was deleted', (file) => rmSync(`${file}-wal`)],
  [
    'the database was replaced',
    (file) => {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
  ],
  [
    'the name of the database leads to itself, so that nobody can look,',
    (file) => {
      renameSync(file, `${file}.away`)
      symlinkSync(file, file)
    },
  ],
]

test.each([...moved])(
  '%s under the server: no later transaction is answered, and the server says why',
  async (_, move) => {
    using folder = temporaryFolder()
    const faults: string[] = []
    const store = await openTiny(folder.file, { onFault: ({ reason }) => faults.push(reason) })
    await store.transaction((notes) => notes.add('before'))

    move(folder.file)
    const refused = await store.transaction((notes) => notes.add('after')).catch((error: unknown) => error)

    expect(refused).toMatchObject({ code: 'unavailable', facts: { retryAfterSeconds: expect.any(Number) } })
    expect(store.health()).toMatchObject({
      writable: false,
      reason: expect.stringContaining('under the running server'),
    })
    expect(faults).toHaveLength(1)
    await store.close()
  },
)

test('a server whose lock file was removed stops and says what to do, and the next one creates the lock file', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  rmSync(`${folder.file}.lock`)
  const { reason } = await eventually(
    () => store.health(),
    (health: ReturnType<TinyStore['health']>) => !health.writable,
  )
  await store.close()

  expect(reason).toBe(
    `${folder.file}.lock was deleted under the running server: keep other programs from removing it, and start the server ` +
      'again, which creates it.',
  )
  const next = await openTiny(folder.file)
  await next.transaction((notes) => notes.add('after'))
  expect(existsSync(`${folder.file}.lock`)).toBe(true)
  await next.close()
})

test.each([...moved])('%s under an idle server: the server notices without being called', async (_, move) => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  move(folder.file)
  const noticed = await eventually(
    () => store.health(),
    (health: ReturnType<TinyStore['health']>) => !health.writable,
  )

  expect(noticed).toMatchObject({ writable: false, reason: expect.stringContaining('under the running server') })
  await store.close()
})

test('a file that is put back does not start writing again, because its state is unknown', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  renameSync(folder.file, `${folder.file}.away`)
  await eventually(
    () => store.health(),
    (health: ReturnType<TinyStore['health']>) => !health.writable,
  )

  renameSync(`${folder.file}.away`, folder.file)
  const refused = await store.transaction((notes) => notes.add('after')).catch((error: unknown) => error)

  expect(refused).toMatchObject({ code: 'unavailable' })
  expect(store.health().writable).toBe(false)
  await store.close()
})

test('a server whose file was replaced never touches the new file, not even when it exits', async () => {
  using folder = temporaryFolder()
  using other = temporaryFolder()
  const replacement = await openTiny(other.file)
  await replacement.transaction((notes) => notes.add('of the new database'))
  const server = await startTiny(folder.file)
  await server.ask({ kind: 'add', id: 'of the old database' })

  // The new database is in use, so it has a WAL of its own.
  for (const suffix of ['-shm', '-wal', '']) copyFileSync(`${other.file}${suffix}`, `${folder.file}${suffix}.new`)
  for (const suffix of ['-shm', '-wal', '']) renameSync(`${folder.file}${suffix}.new`, `${folder.file}${suffix}`)
  expect(await server.ask({ kind: 'add', id: 'late' })).toEqual({ refused: 'unavailable' })
  expect(await server.exit()).not.toBe(0)
  await replacement.close()

  const store = await openTiny(folder.file)
  expect(await store.queries.ids()).toEqual(['of the new database'])
  await store.close()
})
