import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseUnusable } from '../../../db/database.ts'
import { Acknowledged, readAcknowledged, readKeptTime } from '../../../db/sqlite/acknowledged.ts'
import { isBehind, laterCount, nextCount } from '../../../db/sqlite/connection.ts'
import { eventually } from '../../support/crash.ts'
import { startTiny } from './support/start-tiny.ts'
import { backUpTiny, openTiny, temporaryFolder } from './support/tiny-store.ts'

/** A store in its own process that was killed after it had acknowledged some notes and written the count of its commits. */
const killedStore = async (file: string, notes = 12): Promise<void> => {
  const store = await startTiny(file)
  for (let index = 0; index < notes; index += 1) await store.ask({ kind: 'add', id: `note-${index}` })
  expect(
    await eventually(
      () => readAcknowledged(file),
      (count) => count === notes,
    ),
  ).toBe(notes)
  await store.kill()
}

/** Opens the store. Returns the number of its notes, or the sentence of the refusal. */
const openingOf = async (file: string): Promise<number | string> => {
  try {
    const store = await openTiny(file)
    const count = await store.queries.count()
    await store.close()
    return count
  } catch (error) {
    if (error instanceof DatabaseUnusable) return error.message
    throw error
  }
}

const flip = (file: string, offset: number): void => {
  const content = readFileSync(file)
  content[offset] = (content[offset] ?? 0) ^ 0x40
  writeFileSync(file, content)
}

const headerSize = 32
const frameSize = 24 + 4_096

describe('a store that was killed', () => {
  const folder = temporaryFolder()
  const file = folder.file
  const wal = `${file}-wal`
  const counter = `${file}.acknowledged`
  let kept: ReadonlyMap<string, Buffer> = new Map()

  const putBack = async (): Promise<void> => {
    if (kept.size === 0) {
      await killedStore(file)
      kept = new Map([file, wal, counter].map((path) => [path, readFileSync(path)]))
    }
    rmSync(`${file}-shm`, { force: true })
    for (const [path, content] of kept) writeFileSync(path, content, { mode: 0o600 })
  }
  afterAll(() => folder[Symbol.dispose]())

  test('opens with every acknowledged change', async () => {
    await putBack()
    expect(await openingOf(file)).toBe(12)
  })

  test('is refused if one byte of a frame or of the header of its WAL has changed', async () => {
    await putBack()
    const size = statSync(wal).size
    const frames = Math.floor((size - headerSize) / frameSize)
    const offsets = [
      ...Array.from({ length: headerSize }, (_, offset) => offset),
      ...Array.from({ length: frames }, (_, frame) => headerSize + frame * frameSize + ((frame * 677) % frameSize)),
    ]
    const opened: Record<number, number> = {}
    for (const offset of offsets) {
      await putBack()
      flip(wal, offset)
      const opening = await openingOf(file)
      if (opening === 12) opened[offset] = 12
      else expect(opening).toContain('lost changes that were acknowledged')
    }
    expect(opened).toEqual({})
  })

  const losses: Record<string, () => void> = {
    'with a truncated WAL': () => truncateSync(wal, statSync(wal).size - frameSize),
    'with an empty WAL': () => truncateSync(wal, 0),
    'without its WAL': () => rmSync(wal),
  }
  test.each(Object.keys(losses))('%s is refused for a server and for a command, and is not changed', async (loss) => {
    await putBack()
    losses[loss]?.()
    const before = existsSync(wal) ? readFileSync(wal) : null
    expect(await openingOf(file)).toContain('app-platform recover --accept-loss')
    await expect(openTiny(file, { role: 'operator', migrate: false })).rejects.toBeInstanceOf(DatabaseUnusable)
    expect(existsSync(wal) ? readFileSync(wal) : null).toEqual(before)
  })

  test('without its counter is refused, whether it lost changes or not', async () => {
    await putBack()
    rmSync(counter)
    expect(await openingOf(file)).toContain(`${counter} is gone`)
    expect(await openingOf(file)).toContain('app-platform recover --accept-loss')
    expect(existsSync(counter)).toBe(false)
  })

  const damages: Record<string, () => void> = {
    'is empty': () => writeFileSync(counter, ''),
    'holds something else': () => writeFileSync(counter, 'junk\n'),
    'has a flipped bit': () => flip(counter, 15),
    'is truncated': () => truncateSync(counter, 20),
  }
  test.each(Object.keys(damages))('whose counter %s is refused, and the counter is not changed', async (damage) => {
    await putBack()
    damages[damage]?.()
    const before = readFileSync(counter)
    expect(readAcknowledged(file)).toBeNull()
    expect(await openingOf(file)).toContain(`${counter} cannot be read`)
    expect(await openingOf(file)).toContain('app-platform recover --accept-loss')
    expect(readFileSync(counter)).toEqual(before)
  })

  test('is opened after another program has read it and copied the WAL into it', async () => {
    await putBack()
    const other = new Database(file)
    other.query('SELECT count(*) FROM notes').get()
    other.close()
    expect(await openingOf(file)).toBe(12)
  })
})

test('an older copy in place of the database is refused', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await store.transaction((notes) => notes.add('one'))
  backUpTiny(folder.file, `${folder.file}.copy`)
  await store.transaction((notes) => notes.add('two'))
  await store.close()
  copyFileSync(`${folder.file}.copy`, folder.file)

  expect(await openingOf(folder.file)).toContain('replaced by an older one')
})

test('a new database has a counter before its first commit, and is opened if that counter was left empty', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  expect(readAcknowledged(folder.file)).toBe(0)
  await store.close()
  writeFileSync(`${folder.file}.acknowledged`, '')
  expect(await openingOf(folder.file)).toBe(0)
})

test('commits of a command are counted as well, and transactions that change nothing are not', async () => {
  using folder = temporaryFolder()
  const server = await openTiny(folder.file)
  await server.transaction((notes) => notes.add('one'))
  const operator = await openTiny(folder.file, { role: 'operator', migrate: false })
  await operator.transaction((notes) => notes.add('two'))
  await operator.transaction((notes) => notes.count())
  await operator.close()
  expect(readAcknowledged(folder.file)).toBe(2)
  await server.transaction((notes) => notes.add('three'))
  await server.close()
  expect(readAcknowledged(folder.file)).toBe(3)
})

test('the counter stays one private line, however often it is written', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  for (let index = 0; index < 30; index += 1) {
    await store.transaction((notes) => notes.add(`note-${index}`))
    if (index % 10 === 0)
      await eventually(
        () => readAcknowledged(folder.file),
        (count) => count === index + 1,
      )
  }
  await store.close()
  expect(readFileSync(`${folder.file}.acknowledged`, 'latin1')).toMatch(/^acknowledged +30 [0-9a-f]{8}\n$/)
  expect(statSync(`${folder.file}.acknowledged`).mode & 0o777).toBe(0o600)
})

const keptAt = async (file: string, at: number): Promise<number | null> =>
  await eventually(
    () => readKeptTime(file),
    (kept) => kept === at,
  )

describe('the trusted time beside a store', () => {
  test('is written at most once a second, along with the next commit, and at the end', async () => {
    using folder = temporaryFolder()
    const store = await openTiny(folder.file)
    expect(store.keptTime()).toBeNull()
    store.keepTime(1_000_000)
    expect(await keptAt(folder.file, 1_000_000)).toBe(1_000_000)
    expect(readAcknowledged(folder.file)).toBe(0)
    store.keepTime(1_000_999)
    await Bun.sleep(200)
    expect(readKeptTime(folder.file)).toBe(1_000_000)
    store.keepTime(1_001_000)
    expect(await keptAt(folder.file, 1_001_000)).toBe(1_001_000)

    store.keepTime(1_001_001)
    await store.transaction((notes) => notes.add('one'))
    expect(await keptAt(folder.file, 1_001_001)).toBe(1_001_001)
    expect(readAcknowledged(folder.file)).toBe(1)

    store.keepTime(1_001_002)
    await store.close()
    const again = await openTiny(folder.file)
    expect(again.keptTime()).toBe(1_001_002)
    await again.close()
  })

  test('is missing in the file of a release that did not keep it, whose count is read and to which the time is added', async () => {
    using folder = temporaryFolder()
    const store = await openTiny(folder.file)
    await store.transaction((notes) => notes.add('one'))
    await store.close()
    expect(readFileSync(`${folder.file}.acknowledged`, 'latin1')).toBe('acknowledged           1 e9c3ca8e\n')

    const next = await openTiny(folder.file)
    expect(next.keptTime()).toBeNull()
    next.keepTime(1_000_000)
    await next.close()
    expect([readAcknowledged(folder.file), readKeptTime(folder.file)]).toEqual([1, 1_000_000])
  })

  test('is not changed by a command beside the server, and reads as none if it is damaged', async () => {
    using folder = temporaryFolder()
    const server = await openTiny(folder.file)
    const operator = await openTiny(folder.file, { role: 'operator', migrate: false })
    server.keepTime(1_000_000)
    await keptAt(folder.file, 1_000_000)
    await operator.transaction((notes) => notes.add('one'))
    await operator.close()
    expect([readAcknowledged(folder.file), readKeptTime(folder.file)]).toEqual([1, 1_000_000])
    await server.close()
    flip(`${folder.file}.acknowledged`, 50)
    expect([readAcknowledged(folder.file), readKeptTime(folder.file)]).toEqual([1, null])
  })
})

test('what is noted during or after the close is not written, and causes no fault', async () => {
  using folder = temporaryFolder()
  const faults: unknown[] = []
  const acknowledged = new Acknowledged(folder.file, 0, (error) => faults.push(error))
  acknowledged.note(1)
  const closed = acknowledged.close({ failed: false })
  acknowledged.note(2)
  await closed
  const other = `${folder.file}.other`
  const descriptor = openSync(other, 'w+') // gets the descriptor that was closed
  acknowledged.note(3)
  acknowledged.noteTime(1_000_000)
  await Bun.sleep(300)
  closeSync(descriptor)
  expect([readFileSync(other, 'latin1'), readKeptTime(folder.file), faults]).toEqual(['', null, []])
})

test('a count that wraps around does not look as if commits were missing', () => {
  const last = 2 ** 31 - 1
  expect(nextCount(last)).toBe(-(2 ** 31))
  expect(isBehind(last, nextCount(last))).toBe(true)
  expect(isBehind(nextCount(last), last)).toBe(false)
  expect(laterCount(last, nextCount(last))).toBe(nextCount(last))
  expect(nextCount(-1)).toBe(0)
})
