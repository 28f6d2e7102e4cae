import { describe, expect, test } from 'bun:test'
import { createTurnstile } from '../../src/http/turnstile.ts'
import { startTestServer } from './support/shell-server.ts'

/** A turnstile whose turns take a time that the test sets. */
const withTime = (longestWaitMs: number | null) => {
  const time = { now: 0 }
  const turnstile = createTurnstile({ longestWaitMs, monotonicMs: () => time.now })
  const turn = async (milliseconds: number) => {
    time.now += milliseconds
    await new Promise((resolve) => setImmediate(resolve))
  }
  /** Enters this many requests: how many may begin at once, and the promises of the others. */
  const arrive = (count: number) => {
    const all = Array.from({ length: count }, () => turnstile.enter())
    const waiting = all.filter((each) => each !== true)
    return { begun: all.length - waiting.length, waiting }
  }
  return { turn, arrive }
}

describe('the turnstile', () => {
  test('lets all requests begin at once while turns are short', async () => {
    const { turn, arrive } = withTime(1_000)
    for (let round = 0; round < 20; round += 1) {
      expect(arrive(1_000)).toEqual({ begun: 1_000, waiting: [] })
      await turn(50)
    }
  })

  test('lets no more begin at once than a turn can bring', () => {
    expect(withTime(1_000).arrive(3_000).begun).toBe(2_048)
  })

  test('after a long turn admits only as many as would have fitted, and the others in later turns, in order', async () => {
    const { turn, arrive } = withTime(10_000)
    arrive(1_000)
    await turn(500) // a fifth of them would have fitted into 100 ms
    const { begun, waiting } = arrive(1_000)
    expect(begun).toBe(200)
    const order: number[] = []
    for (const [index, each] of waiting.entries()) void each.then(() => order.push(index))
    await turn(100)
    expect(order).toHaveLength(250) // after a short turn, a quarter more may begin
    for (let turns = 0; turns < 20; turns += 1) await turn(10)
    expect(order).toEqual(Array.from({ length: 800 }, (_, index) => index))
    expect(await Promise.all(waiting)).not.toContain(false)
    for (let turns = 0; turns < 20; turns += 1) {
      arrive(100)
      await turn(10)
    }
    expect(arrive(1_000).waiting).toEqual([])
  })

  test('admits a request that has waited for exactly the longest time, and refuses one that has waited longer', async () => {
    for (const [waited, mayBegin] of [
      [1_000, true],
      [1_001, false],
    ] as const) {
      const { turn, arrive } = withTime(1_000)
      arrive(1_000)
      await turn(60_000)
      const { waiting } = arrive(65)
      await turn(waited)
      expect(await Promise.all(waiting)).toEqual([mayBegin])
    }
  })

  test('admits some requests in every turn, however long turns take, and lets none overtake those that wait', async () => {
    const { turn, arrive } = withTime(1_000_000)
    arrive(1_000)
    await turn(60_000)
    expect(arrive(1_000).begun).toBe(64)
    await turn(60_000)
    expect(arrive(1).begun).toBe(0)
  })

  test('admits waiting requests, even if the line was empty in between', async () => {
    const { turn, arrive } = withTime(1_000_000)
    for (let times = 0; times < 2; times += 1) {
      arrive(1_000)
      await turn(60_000)
      const { waiting } = arrive(1_000)
      let begun = 0
      for (const each of waiting) void each.then(() => (begun += 1))
      for (let turns = 0; turns < 20; turns += 1) await turn(10)
      expect([waiting.length > 0, begun]).toEqual([true, waiting.length])
    }
  })

  test('refuses every second request that has waited too long, and admits the next ones', async () => {
    const { turn, arrive } = withTime(1_000)
    arrive(1_000)
    await turn(2_000)
    const { waiting } = arrive(500)
    await turn(1_001)
    for (let turns = 0; turns < 10; turns += 1) await turn(1)
    const mayBegin = await Promise.all(waiting)
    expect(mayBegin).toEqual(mayBegin.map((_, index) => index % 2 === 1))
    expect(arrive(10).waiting).toEqual([])
  })

  test('does nothing while there are no requests', async () => {
    let asked = 0
    const turnstile = createTurnstile({ longestWaitMs: 1_000, monotonicMs: () => (asked += 1) })
    void turnstile.enter()
    for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve))
    const before = asked
    for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toBe(before)
  })

  test('admits every request if it is off', async () => {
    const { turn, arrive } = withTime(null)
    arrive(3_000)
    await turn(60_000)
    expect(arrive(3_000).waiting).toEqual([])
  })
})

describe('a server with too much to do', () => {
  test('answers requests that waited too long with 503 and the time to wait, and monitors at once', async () => {
    const refusing = { enter: async () => false } as const
    const server = startTestServer({ turnstile: refusing })
    const refused = await server.call('/plain')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-request-id')).toMatch(/^req_/)
    expect(JSON.parse(await refused.text()).error.code).toBe('unavailable')
    expect((await server.call('/nowhere')).status).toBe(503)
    for (const path of ['/healthz', '/readyz', '/metrics']) expect((await server.call(path)).status).toBe(200)
  })

  test('answers requests that are admitted after a wait', async () => {
    const server = startTestServer({ turnstile: { enter: async () => await Bun.sleep(1).then(() => true) } })
    expect((await server.call('/plain')).status).toBe(200)
  })
})
