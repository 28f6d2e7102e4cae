import { expect } from 'bun:test'
import type { Database } from '../../../db/database.ts'
import { postgresMigrations } from '../../../db/migrations/index.ts'
import { migratePostgres } from '../../../db/postgres/commands.ts'
import { challengeOf } from '../../../src/domain/pkce.ts'
import { hashSecret } from '../../../src/domain/secret.ts'
import { KeyTaken, type TimeKey, timeKeyAt } from '../../../src/domain/time-key.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/nodes.ts'
import { emptyPostgres, postgresDatabase } from '../../support/postgres.ts'
import { type Fate, openStore, outcomeOf, startProxy } from './support.ts'

const { test } = needs('postgres')

const ticket = 'a'.repeat(22)
const spend = async (database: Database, key = ticket, kind: 'serial' | 'guarded' = 'serial') => {
  let runs = 0
  const isFirst = await database.transaction(
    async (q) => {
      runs += 1
      return await q.formTickets.spend(key, 1)
    },
    { kind },
  )
  return { isFirst, runs }
}

/** A store behind a proxy with these fates for its first commits, closed after the work. */
const behindProxy = async <T>(
  name: string,
  fates: Fate[],
  work: (store: Database, stop: () => void) => Promise<T>,
  decisive?: readonly string[],
) => {
  const proxy = await startProxy(name, fates, undefined, undefined, decisive)
  const store = await openStore(proxy.url)
  try {
    return await work(store, proxy.stop)
  } finally {
    await store.close()
    proxy.stop()
  }
}

test('a new connection whose server hangs is given up, and the transaction goes on over another one', async () => {
  const url = await postgresDatabase('hangs')
  const store = await openStore('hangs')
  const locking = askPostgres(url, 'DO $$ BEGIN LOCK TABLE timelines; PERFORM pg_sleep(60); END $$', []).catch(
    () => 'ended',
  )
  const others = 'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  const find = async (condition: string) =>
    (await askPostgres<{ pid: number }>(url, `SELECT pid ${others} AND ${condition}`, []))[0]?.pid ?? null
  await until(async () => await find("wait_event = 'PgSleep'"))
  const spending = spend(store) // the first connection that writes notes the timeline
  const pid = await until(async () => await find("wait_event_type = 'Lock'"))
  process.kill(pid, 'SIGSTOP')
  await askPostgres(url, `SELECT pg_terminate_backend(pid) ${others} AND wait_event = 'PgSleep'`, [])
  expect(await locking).toBe('ended')
  expect(await spending).toEqual({ isFirst: true, runs: 1 })
  process.kill(pid, 'SIGCONT')
  await store.close()
})

test('what a body throws undoes what it wrote, and the connection goes on', async () => {
  const store = await openStore('throws')
  const failing = store.transaction(async (q) => {
    await q.formTickets.spend(ticket, 1)
    throw new Error('changed its mind')
  })
  expect(await outcomeOf(() => failing)).toBe('changed its mind')
  expect(await spend(store)).toEqual({ isFirst: true, runs: 1 })
  expect(await spend(store)).toEqual({ isFirst: false, runs: 1 })
  await store.close()
})

test('a failed statement whose error the body has caught is no success', async () => {
  const store = await openStore('swallows')
  const swallowing = store.transaction(async (q) => {
    await q.formTickets.spend(ticket, 1)
    try {
      await q.formTickets.spend(ticket.repeat(2), Number.NaN)
    } catch {
      // As if it had worked.
    }
    return 'done'
  })
  expect(await outcomeOf(() => swallowing)).not.toBe('done')
  expect(await spend(store)).toEqual({ isFirst: true, runs: 1 })
  await store.close()
})

/** A write whose answer decides nothing, so that it is sent with COMMIT. */
const note = async (store: Database, at: number) => {
  let runs = 0
  await store.transaction(async (q) => {
    runs += 1
    const before = (await q.watermarks.find('restored')) ?? 0
    await q.watermarks.set('restored', before + at)
  })
  return runs
}

test('a write that was sent with COMMIT and failed fails the transaction', async () => {
  const store = await openStore('pushed')
  expect(await outcomeOf(() => note(store, Number.NaN))).not.toBe('done')
  await note(store, 1)
  expect(await store.queries.watermarks.find('restored')).toBe(1)
  await store.close()
})

const codeAt = (key: TimeKey) => {
  const codeChallenge = challengeOf('x'.repeat(43))
  return { key, hash: hashSecret(''), grantKey: key, redirectUri: 'x', codeChallenge, expiresAt: 1 }
}

test('a taken key fails the transaction as such, also if nobody has waited for the insert', async () => {
  const store = await openStore('taken')
  const { grants } = store.queries
  const key = timeKeyAt(Date.now())
  const insert = async () => await store.transaction(async (q) => await q.grants.insertCode(codeAt(key)))
  await insert()
  await expect(insert()).rejects.toBeInstanceOf(KeyTaken)
  expect(await grants.oldestCodeKey()).toBe(key)
  await store.close()
})

test('a commit whose answer is lost together with that of a write has happened once', async () => {
  await behindProxy('answers-lost', ['answer lost'], async (store) => {
    expect(await note(store, 1)).toBe(1)
    expect(await store.queries.watermarks.find('restored')).toBe(1)
  })
})

test('a commit that never arrived, and with it a write, is tried again', async () => {
  await behindProxy('requests-lost', ['request lost'], async (store) => {
    expect(await note(store, 1)).toBe(2)
    expect(await store.queries.watermarks.find('restored')).toBe(1)
  })
})

/** A transaction that reads without locks and then inserts one row, which is sent without BEGIN and COMMIT. */
const insertOnce = async (store: Database, key: TimeKey, redirectUri = 'x') =>
  await store.transaction(
    async (q) => {
      if ((await q.apps.bySlug('nobody')) === null) await q.grants.insertCode({ ...codeAt(key), redirectUri })
    },
    { kind: 'conditional' },
  )

test('of the rows that transactions insert at once, those with a taken key are refused, and all others kept as they are', async () => {
  const store = await openStore('at-once')
  const now = Date.now()
  await insertOnce(store, timeKeyAt(now))
  const odd = 'comma, "quote", \\slash, {brace}, \n, NULL, ü🙂'
  const outcomes = await Promise.all(
    // each key twice
    Array.from(
      { length: 100 },
      async (_, index) => await outcomeOf(() => insertOnce(store, timeKeyAt(now + (index % 50)), odd)),
    ),
  )
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(49)
  expect([outcomes[0], outcomes[50]]).not.toContain('done')
  const [kept] = await askPostgres<{ count: number }>(
    await postgresDatabase('at-once'),
    'SELECT count(*) AS count FROM authorization_codes WHERE redirect_uri = $1 AND hash = $2',
    [odd, hashSecret('')],
  )
  expect(kept?.count).toBe(49)
  await store.close()
})

test('a row whose insert was lost is inserted, or its key is taken by it: then the operation takes the next key', async () => {
  const uri = 'https://one.example/row'
  const insertWith = async (name: string, fates: Fate[]) =>
    await behindProxy(
      name,
      fates,
      async (store) => {
        const key = timeKeyAt(Date.now())
        const inserting = insertOnce(store, key, uri)
        const isTaken = await inserting.then(
          () => false,
          (error: unknown) => error instanceof KeyTaken,
        )
        expect(await store.queries.grants.oldestCodeKey()).toBe(key)
        return isTaken
      },
      [uri],
    )
  expect(await insertWith('insert-not-made', ['request lost', 'answer lost'])).toBe(false)
  expect(await insertWith('insert-made', ['answer lost'])).toBe(true)
})

test('a query that is used after its transaction is refused', async () => {
  const store = await openStore('late')
  const q = await store.transaction(async (queries) => queries)
  await expect(async () => await q.users.byId('x')).toThrow('outside of its transaction')
  await store.close()
})

test('a commit whose answer is lost has happened once, and its body is not run again', async () => {
  await behindProxy('answer-lost', ['answer lost'], async (store) => {
    expect(await spend(store)).toEqual({ isFirst: true, runs: 1 })
    expect(await spend(store)).toEqual({ isFirst: false, runs: 1 })
  })
})

test('a commit that never arrived is tried again', async () => {
  await behindProxy('request-lost', ['request lost'], async (store) => {
    expect(await spend(store)).toEqual({ isFirst: true, runs: 2 })
    expect(await spend(store)).toEqual({ isFirst: false, runs: 1 })
  })
})

test('a commit that nobody can ask about is unavailable, neither done nor tried again', async () => {
  const fates: Fate[] = ['answer lost']
  await behindProxy('undecided', fates, async (store, stop) => {
    const spending = outcomeOf(() => spend(store))
    while (fates.length > 0) await Bun.sleep(5)
    stop()
    expect(await spending).toBe('unavailable')
  })
  const store = await openStore('undecided')
  expect((await spend(store)).isFirst).toBe(false)
  await store.close()
}, 180_000)

test('connections that PostgreSQL has ended are replaced, for reads and for transactions', async () => {
  const url = await postgresDatabase('ended')
  const store = await openStore('ended')
  await spend(store, 'b'.repeat(22))
  await store.queries.users.byId('x')
  await askPostgres(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    [],
  )
  expect(await store.queries.users.byId('x')).toBeNull()
  expect((await spend(store)).isFirst).toBe(true)
  await store.close()
})

/** Counts up, as no conditional write would. */
const countUp = async (store: Database) =>
  await store.transaction(async (q) => {
    const next = ((await q.watermarks.find('restored')) ?? 0) + 1
    await q.watermarks.set('restored', next)
    return next
  })

test('serial transactions of several servers see what the ones before them committed', async () => {
  const [first, ...others] = [await openStore('serial'), await openStore('serial'), await openStore('serial')]
  const seen = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => await countUp(others[index % 3] ?? first)),
  )
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
  for (const store of [first, ...others]) await store.close()
})

test('of guarded transactions at once one spends a ticket', async () => {
  const store = await openStore('guarded')
  const all = await Promise.all(Array.from({ length: 50 }, async () => await spend(store, ticket, 'guarded')))
  expect(all.filter(({ isFirst }) => isFirst)).toHaveLength(1)
  await store.close()
})

test('where PostgreSQL has room for a few connections only, reads and both kinds of transaction wait for those', async () => {
  const asOwner = await emptyPostgres('few-connections')
  await askPostgres(asOwner, 'CREATE ROLE few LOGIN CONNECTION LIMIT 6', [])
  await askPostgres(asOwner, `ALTER DATABASE ${new URL(asOwner).pathname.slice(1)} OWNER TO few`, [])
  const url = asOwner.replace('app@', 'few@')
  await migratePostgres(url, postgresMigrations)
  const store = await openStore(url, 'server')
  const use = async (_: unknown, index: number) => {
    const key = String(index).padStart(22, '0')
    const isSpent = [
      await spend(store, key, 'guarded'),
      await spend(store, key, index % 10 === 0 ? 'serial' : 'guarded'),
    ]
    return [...isSpent.map(({ isFirst }) => isFirst), await store.queries.users.byId('x')]
  }
  const all = await Promise.all(Array.from({ length: 100 }, use))
  expect(all).toEqual(all.map(() => [true, false, null]))
  await store.close()
})

test('the trusted time that servers share only rises, and never ahead of the clock of PostgreSQL', async () => {
  const store = await openStore('trusted-time')
  const set = async (at: number) => {
    await store.transaction(async (q) => await q.watermarks.set('clock', at))
    return (await store.queries.watermarks.find('clock')) ?? 0
  }
  expect(await set(5_000)).toBe(5_000)
  expect(await set(4_000)).toBe(5_000)
  const before = Date.now()
  expect(await set(before + 86_400_000)).toBeWithin(before - 1_000, Date.now() + 1_000)
  await store.close()
})

test('servers take numbers of their own, and one of them does what one does for all', async () => {
  const [one, two] = [await openStore('nodes', 'server'), await openStore('nodes', 'server')]
  expect([one.node, two.node]).toEqual([0, 1])
  expect([one.leads(), two.leads()]).toEqual([true, false])
  await one.close()
  while (!two.leads()) await Bun.sleep(50)
  const three = await openStore('nodes', 'server')
  expect([three.node, three.leads()]).toEqual([0, false])
  await two.close()
  await three.close()
})
