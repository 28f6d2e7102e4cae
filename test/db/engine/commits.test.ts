import { expect, test } from 'bun:test'
import { Commits, type CommitOptions, type CommitWriter } from '../../../db/sqlite/commits.ts'

// Cases that real files can hardly produce: the writing connection is a list of the calls that it got.

class SqliteFault extends Error {
  constructor(readonly code: string) {
    super(code)
  }
}

type Script = { readonly begin?: () => void; readonly commit?: () => void; readonly rollback?: () => void }

const scripted = (script: Script = {}) => {
  const told: string[] = []
  const tell = (name: string, does?: () => void) => () => {
    told.push(name)
    does?.()
  }
  const writer: CommitWriter<typeof told> = {
    queries: told,
    begin: tell('begin', script.begin),
    commit: tell('commit', script.commit),
    rollback: tell('rollback', script.rollback),
    savepoint: tell('savepoint'),
    release: tell('release'),
    rollbackToSavepoint: tell('undo'),
  }
  return { told, writer }
}

const queueOf = <Q>(writer: CommitWriter<Q>, options: Partial<CommitOptions<Q>> = {}) =>
  new Commits<Q>({
    writer,
    replaceWriter: () => writer,
    longestWaitMs: 5_000,
    batchLimit: 256,
    beginning: () => {},
    durable: async () => {},
    full: () => false,
    stateUnknown: () => {},
    ...options,
  })

const fails = (code: string) => () => {
  throw new SqliteFault(code)
}

const unavailable = { code: 'unavailable', facts: { retryAfterSeconds: expect.any(Number) } }
const outcome = (transaction: Promise<unknown>) => transaction.catch((error: unknown) => error)

const fail = (message: string) => async () => {
  throw new Error(message)
}

const write = (name: string) => (queries: string[]) => void queries.push(name)

/** The outcome of each transaction, in the order of the bodies. All of them arrive together. */
const outcomesOf = async <Q>(queue: Commits<Q>, bodies: readonly ((queries: Q) => unknown)[]) =>
  await Promise.all(bodies.map(async (body) => await outcome(queue.transaction(body))))

test('transactions that succeed share one commit, each under its own savepoint', async () => {
  const { told, writer } = scripted()
  const queue = queueOf(writer)

  await queue.transaction(async () => {})
  expect(await outcomesOf(queue, [async () => 1, write('second'), async () => 3])).toEqual([1, undefined, 3])

  expect(told.join(' ')).toBe(
    'begin savepoint release commit begin savepoint release savepoint second release savepoint release commit',
  )
})

test('a body that throws is undone alone, and no body of its batch runs again', async () => {
  const { told, writer } = scripted()
  const queue = queueOf(writer)

  const outcomes = await outcomesOf(queue, [write('first'), fail('no'), write('last')])

  expect(outcomes).toEqual([undefined, new Error('no'), undefined])
  expect(told.join(' ')).toBe('begin savepoint first release savepoint undo savepoint last release commit')
})

test('callers learn of a failure when the commit of its batch is durable, since it may rest on what others wrote', async () => {
  const { told, writer } = scripted()
  const synced = Promise.withResolvers<void>()
  const queue = queueOf(writer, { durable: () => synced.promise })
  const settled: string[] = []
  const note = (name: string) => () => void settled.push(name)

  const pair = [
    queue.transaction(fail('one of two')).catch(note('failed')),
    queue.transaction(() => {}).then(note('done')),
  ]
  while (!told.includes('commit')) await Bun.sleep(1)
  await Bun.sleep(10)
  expect(settled).toEqual([])
  synced.resolve()
  await Promise.all(pair)

  expect(settled.toSorted()).toEqual(['done', 'failed'])
})

test('nothing is answered before it is durable', async () => {
  const { told, writer } = scripted()
  const synced = Promise.withResolvers<void>()
  const queue = queueOf(writer, { durable: () => synced.promise })
  let answered = false

  const transaction = queue.transaction(async () => {}).then(() => (answered = true))
  while (!told.includes('commit')) await Bun.sleep(1)
  await Bun.sleep(10)
  expect(answered).toBe(false)
  synced.resolve()

  expect(await transaction).toBe(true)
})

test('while a sync runs the next batch gathers, and begins only after it', async () => {
  const { told, writer } = scripted()
  const first = Promise.withResolvers<void>()
  const queue = queueOf(writer, { durable: () => first.promise })

  const one = queue.transaction(async () => {})
  while (!told.includes('commit')) await Bun.sleep(1)
  const rest = [queue.transaction(async () => {}), queue.transaction(async () => {})]
  await Bun.sleep(10)
  expect(told).toEqual(['begin', 'savepoint', 'release', 'commit'])
  first.resolve()
  await Promise.all([one, ...rest])

  expect(queue.commits).toBe(2)
})

test('callers that ask again at once share every commit, even if they began at different times', async () => {
  const { told, writer } = scripted()
  const rounds = 100
  const queue = queueOf(writer, { durable: () => Bun.sleep(1) })
  const caller = async () => {
    for (let round = 0; round < rounds; round += 1) {
      await queue.transaction(async () => {})
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  const early = [caller(), caller()]
  while (!told.includes('commit')) await Bun.sleep(0)
  await Promise.all([...early, caller(), caller()])

  // Out of step, each commit would have two of the four, and there would be twice as many.
  expect(queue.commits).toBeLessThan(rounds * 1.5)
})

test('the last of several callers waits only shortly for others that do not come', async () => {
  const { writer } = scripted()
  const queue = queueOf(writer)
  await Promise.all(Array.from({ length: 50 }, async () => await queue.transaction(async () => {})))

  expect(await queue.transaction(async () => 'alone')).toBe('alone')
})

test('a database that stays locked makes transactions wait, and then refuses them as unavailable', async () => {
  const { writer } = scripted({ begin: fails('SQLITE_BUSY') })
  const queue = queueOf(writer, { longestWaitMs: 50 })

  expect(await outcome(queue.transaction(async () => {}))).toMatchObject(unavailable)
})

test('where all transactions share the wait, one that comes after it is refused at once while the lock is held', async () => {
  let isHeld = true
  const { writer } = scripted({ begin: () => void (isHeld && fails('SQLITE_BUSY')()) })
  const queue = queueOf(writer, { longestWaitMs: 50, waitsOnce: true })
  expect(await outcome(queue.transaction(async () => {}))).toMatchObject(unavailable)
  const tries = queue.lockWaits

  expect(await outcome(queue.transaction(async () => {}))).toMatchObject(unavailable)
  expect(queue.lockWaits).toBe(tries + 1)
  isHeld = false
  expect(await queue.transaction(async () => 'done')).toBe('done')
})

test('a lock that is released in time fails no transaction, and each try that met it is counted', async () => {
  let busy = 3
  const { writer } = scripted({ begin: () => void (busy-- > 0 && fails('SQLITE_BUSY')()) })
  const queue = queueOf(writer)

  expect(await queue.transaction(async () => 'done')).toBe('done')
  expect(queue.lockWaits).toBe(3)
})

test('a commit that fails refuses its whole batch, and the next batch runs', async () => {
  let failures = 1
  const { told, writer } = scripted({ commit: () => void (failures-- > 0 && fails('SQLITE_BUSY')()) })
  const queue = queueOf(writer)

  const batch = await Promise.all([
    outcome(queue.transaction(async () => 1)),
    outcome(queue.transaction(async () => 2)),
  ])

  expect(batch).toEqual([expect.objectContaining(unavailable), expect.objectContaining(unavailable)])
  expect(told.at(-1)).toBe('rollback')
  expect(await queue.transaction(async () => 3)).toBe(3)
})

test('a full disk refuses the batch and does not stop writing', async () => {
  let failures = 1
  let full = 0
  const { writer } = scripted({ commit: () => void (failures-- > 0 && fails('SQLITE_FULL')()) })
  const queue = queueOf(writer, { full: () => (full += 1) === 0 })

  expect(await outcome(queue.transaction(async () => {}))).toMatchObject(unavailable)
  expect(full).toBe(1)
  expect(await queue.transaction(async () => 'room')).toBe('room')
})

test('if there is room to end access, only transactions that end it are tried again', async () => {
  let failures = 2
  const room = [true, false]
  const { writer } = scripted({ commit: () => void (failures-- > 0 && fails('SQLITE_FULL')()) })
  const queue = queueOf(writer, { full: () => room.shift() ?? false })
  const end = async () => await outcome(queue.transaction(async () => 'ended', { endsAccess: true }))

  expect(await Promise.all([outcome(queue.transaction(async () => 'made')), end()])).toEqual([
    expect.objectContaining(unavailable),
    expect.objectContaining(unavailable),
  ])
  failures = 1
  room.push(true)
  expect(await Promise.all([outcome(queue.transaction(async () => 'made')), end()])).toEqual([
    expect.objectContaining(unavailable),
    'ended',
  ])
})

test.each(['SQLITE_IOERR_WRITE', 'SQLITE_CORRUPT', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'])(
  'after %s at a commit everything is refused for good',
  async (code) => {
    const { writer } = scripted({ commit: fails(code) })
    const causes: unknown[] = []
    const queue = queueOf(writer, { stateUnknown: (cause) => causes.push(cause) })

    expect(await outcome(queue.transaction(async () => {}))).toMatchObject(unavailable)
    expect(await outcome(queue.transaction(async () => {}))).toMatchObject(unavailable)
    expect(causes).toEqual([expect.objectContaining({ code })])
  },
)

test('an I/O error inside a body stops all writing, and the other transactions of its batch are refused', async () => {
  const { writer } = scripted()
  const causes: unknown[] = []
  const queue = queueOf(writer, { stateUnknown: (cause) => causes.push(cause) })

  const failed = outcome(queue.transaction(async () => fails('SQLITE_IOERR_READ')()))
  const neighbour = outcome(queue.transaction(async () => {}))

  expect(await failed).toMatchObject(unavailable)
  expect(await neighbour).toMatchObject(unavailable)
  expect(causes).toHaveLength(1)
})

test('after a rollback that fails everything is refused for good', async () => {
  const { writer } = scripted({ commit: fails('SQLITE_FULL'), rollback: fails('SQLITE_IOERR') })
  const causes: unknown[] = []
  const queue = queueOf(writer, { stateUnknown: (cause) => causes.push(cause) })

  expect(await outcome(queue.transaction(async () => {}))).toMatchObject(unavailable)
  expect(causes).toEqual([expect.objectContaining({ code: 'SQLITE_IOERR' })])
})

test('after a failed sync its batch and all waiting transactions are refused for good', async () => {
  const { told, writer } = scripted()
  const sync = Promise.withResolvers<void>()
  const queue = queueOf(writer, { durable: () => sync.promise })

  const batch = outcome(queue.transaction(async () => {}))
  while (!told.includes('commit')) await Bun.sleep(1)
  const waiting = outcome(queue.transaction(async () => {}))
  sync.reject(new Error('EIO'))

  expect(await batch).toMatchObject(unavailable)
  expect(await waiting).toMatchObject(unavailable)
  expect(told).toEqual(['begin', 'savepoint', 'release', 'commit'])
})

test('a transaction beyond the limit of the queue is refused and may be tried again', async () => {
  const { writer } = scripted()
  const queue = queueOf(writer)
  const taken = Array.from({ length: 10_000 }, () => queue.transaction(async () => {}))

  expect(await outcome(queue.transaction(async () => {}))).toMatchObject(unavailable)
  await Promise.all(taken)
})

const nextTurn = async (queries: string[]): Promise<void> => {
  queries.push('pause')
  await new Promise((resolve) => setImmediate(resolve))
}
const long = (name: string) => async (queries: string[]) => {
  await nextTurn(queries)
  queries.push(name)
}

const failsLater = async (queries: string[]) => {
  await nextTurn(queries)
  throw new Error('no')
}

test('a long transaction may take several turns, and has a commit of its own', async () => {
  const { told, writer } = scripted()
  const queue = queueOf(writer)
  const calls = [write('one'), write('two'), long('long'), long('longer'), write('three')]
  await Promise.all(
    calls.map(async (work, index) => await queue.transaction(work, { isLong: index === 2 || index === 3 })),
  )

  expect(told.join(' ')).toBe(
    [
      'begin savepoint one release savepoint two release commit',
      'begin savepoint pause long release commit',
      'begin savepoint pause longer release commit',
      'begin savepoint three release commit',
    ].join(' '),
  )
})

test('a long transaction that throws is undone alone, and those that wait for it run', async () => {
  const { told, writer } = scripted()
  const queue = queueOf(writer)
  const outcomes = [queue.transaction(failsLater, { isLong: true }), queue.transaction(write('next'))].map(outcome)

  expect(await Promise.all(outcomes)).toEqual([new Error('no'), undefined])
  expect(told.join(' ')).toBe('begin savepoint pause undo commit begin savepoint next release commit')
})

test('who has waited too long for a long transaction is refused while it goes on', async () => {
  const { told, writer } = scripted()
  const queue = queueOf(writer, { longestWaitMs: 0 })
  const begun = Promise.withResolvers<Promise<unknown>>()
  const untilRefused = async (queries: string[]) => {
    const waiting = outcome(queue.transaction(write('late')))
    begun.resolve(waiting)
    queries.push(String((await waiting) instanceof Error))
  }
  await queue.transaction(untilRefused, { isLong: true })

  expect(await begun.promise).toMatchObject(unavailable)
  expect(told).toEqual(['begin', 'savepoint', 'true', 'release', 'commit'])
})
