import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { clockFault, clockOffsetMs, keepingClock, keepTime, openClock } from '../../src/operations/clock.ts'
import { createClock } from '../../src/runtime/clock.ts'
import { onSqlite } from '../support/engines.ts'
import { openAsOperator } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const hour = 3_600_000
const clockAt = (at: number) => createClock({ wall: () => at, monotonic: () => 0 }, null)

onSqlite('time beside the file')(
  'after a restart the clock returns no time before the latest one stored, in the database or next to it',
  async () => {
    const file = join(temporaryFolder(), 'clock.db')
    const now = Date.now()
    const { database, ...parts } = await openAsOperator(file)

    await keepTime({ ...parts, database, clock: clockAt(now + hour) })
    expect((await openClock(database)).now()).toBeGreaterThanOrEqual(now + hour)
    expect((await openClock(database)).now()).toBeLessThan(now + 2 * hour)
    database.keepTime(now + 2 * hour)
    await database.close()

    const again = (await openAsOperator(file)).database
    expect((await openClock(again)).now()).toBeGreaterThanOrEqual(now + 2 * hour)
    await keepTime({ ...parts, database: again, clock: clockAt(now + 3 * hour) })
    again.keepTime(now + hour)
    expect((await openClock(again)).now()).toBeGreaterThanOrEqual(now + 3 * hour)
    await again.close()
  },
)

test('without a stored time the clock of the machine is trusted at once', async () => {
  const { database } = await openAsOperator(join(temporaryFolder(), 'new.db'))
  const now = Date.now()
  expect((await openClock(database)).highWater()).toBeGreaterThanOrEqual(now)
  await database.close()
})

test('a server stores the trusted time, not a machine time that jumped ahead, and not with every request', () => {
  const time = { wall: 1_000_000, monotonic: 0 }
  const kept: number[] = []
  const clock = keepingClock(createClock({ wall: () => time.wall, monotonic: () => time.monotonic }, null), {
    keepTime: (at) => kept.push(at),
  })
  clock.now()
  for (const elapsed of [99, 1]) {
    time.wall += elapsed
    time.monotonic += elapsed
    clock.now()
  }
  time.wall += hour
  time.monotonic += 100
  expect(clock.now()).toBe(1_000_100 + hour)
  time.wall -= 2 * hour
  time.monotonic += 100
  expect(clock.now()).toBeLessThan(1_001_000)
  expect(kept).toEqual([1_000_000, 1_000_100, 1_000_200, 1_000_300])
})

test('a machine clock more than 30 seconds behind the trusted time is a fault, and one that is ahead is not', () => {
  const time = { wall: 1_000_000, monotonic: 0 }
  const clock = createClock({ wall: () => time.wall, monotonic: () => time.monotonic }, null)
  const setBack = (milliseconds: number) => {
    time.wall -= milliseconds
    return clockFault(clock)
  }
  expect(setBack(30_000)).toBeNull()
  expect(clockOffsetMs(clock)).toBe(30_000)
  expect(setBack(1_000)).toContain("The machine's clock is 31 s behind")
  expect(setBack(-hour)).toBeNull()
  expect(clockOffsetMs(clock)).toBe(0) // the trusted time follows only after an hour, which is no offset of the data
})
