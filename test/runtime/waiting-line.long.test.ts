import { expect, test } from 'bun:test'
import { createFairLine, type PlaceInLine } from '../../src/runtime/waiting-line.ts'

type Caller = PlaceInLine & { readonly isRight: boolean }

/** Waits until everything has happened that needs no time. */
const settled = async () => {
  for (let ticks = 0; ticks < 5; ticks += 1) await Promise.resolve()
}

/** A line with turns of 200 ms, and the callers in the order of their turns. */
const openLine = (longestWaitMs = 60_000) => {
  let now = 0
  const line = createFairLine({ longestWaitMs, monotonicMs: () => now })
  const served: string[] = []
  const refused: string[] = []
  const inTurn: { readonly caller: Caller; readonly leave: () => void }[] = []
  const wait = async (caller: Caller, name: string): Promise<void> => {
    try {
      const leave = await line.enter(caller)
      served.push(name)
      inTurn.push({ caller, leave })
    } catch {
      refused.push(name)
    }
  }
  const come = (caller: Caller, name = caller.account): void => void wait(caller, name)
  /** Ends the current turn, as a check of a password does. */
  const turn = async (): Promise<void> => {
    await settled()
    const [ended] = inTurn.splice(0, 1)
    now += 200
    if (ended === undefined) return
    if (!ended.caller.isRight) line.failed(ended.caller)
    ended.leave()
    await settled()
  }
  return { come, served, refused, turn, wait: (ms: number) => void (now += ms) }
}

const networkOf = (index: number) => `10.0.${index}.0/24`
const attacker = (index: number): Caller => ({
  network: networkOf(index),
  account: `guessed-${index}`,
  knownAs: null,
  isRight: false,
})
const stranger = (name: string): Caller => ({ network: `${name}/24`, account: name, knownAs: null, isRight: true })
const known = (name: string, network: string): Caller => ({ network, account: name, knownAs: name, isRight: true })

test('with 200 networks that guess all the time, callers from other networks and known ones wait four turns at most', async () => {
  const { come, served, turn } = openLine()
  const guess = () => {
    for (let index = 0; index < 200; index += 1) for (let count = 0; count < 4; count += 1) come(attacker(index))
  }
  const longest = { stranger: 0, known: 0 }
  for (let round = 0; round < 8; round += 1) {
    guess()
    if (round % 2 === 0) await turn() // also before any network has failed
    const kind = round % 4 < 2 ? 'stranger' : 'known'
    const name = `${kind} ${round}`
    come(kind === 'stranger' ? stranger(name) : known(name, networkOf(round)))
    let turns = 0
    while (!served.includes(name) && turns < 50) {
      guess()
      await turn()
      turns += 1
    }
    longest[kind] = Math.max(longest[kind], turns)
  }
  expect(longest.stranger).toBeLessThanOrEqual(4)
  expect(longest.known).toBeLessThanOrEqual(4)
})

test('networks that fail still have every eighth turn', async () => {
  const { come, served, turn } = openLine()
  come(attacker(1))
  await turn()
  for (let count = 0; count < 40; count += 1) {
    come(stranger(`honest ${count}`))
    come(known(`known ${count}`, networkOf(2)))
    if (count % 8 === 0) come(attacker(1), 'failed before')
    await turn()
  }
  expect(served.filter((name) => name === 'failed before').length).toBeGreaterThanOrEqual(4)
})

test('a network with many callers, or an account that many want, has one turn while others have theirs', async () => {
  for (const crowd of [
    (index: number): Caller => ({ ...stranger('office'), account: `colleague ${index}` }),
    (index: number): Caller => ({ ...stranger(`anywhere ${index}`), account: 'wanted' }),
  ]) {
    const { come, served, turn } = openLine()
    come(crowd(0), 'crowd')
    for (let index = 1; index < 30; index += 1) come(crowd(index), 'crowd')
    for (const name of ['ada', 'bob', 'cleo']) come(stranger(name))
    for (let turns = 0; turns < 5; turns += 1) await turn()
    expect(served.slice(0, 5).toSorted()).toEqual(['ada', 'bob', 'cleo', 'crowd', 'crowd'])
    for (let turns = 0; turns < 20; turns += 1) await turn()
    expect(served.length).toBeGreaterThan(20) // the others of the crowd have their turns after that
  }
})

test('a known browser has one turn at a time, and after a failure its waiting callers are treated as unknown', async () => {
  const { come, served, turn } = openLine()
  come(stranger('first'))
  const thief = { ...known('thief', networkOf(1)), isRight: false }
  for (let count = 0; count < 10; count += 1) come(thief)
  for (const name of ['ada', 'bob', 'cleo']) come(stranger(name))
  for (let turns = 0; turns < 5; turns += 1) await turn()
  expect(served.slice(0, 5).toSorted()).toEqual(['ada', 'bob', 'cleo', 'first', 'thief'])
})

/** The callers of the next turns after a network has failed and this pause has passed. */
const order = async (pauseMs: number) => {
  const { come, served, turn, wait } = openLine()
  for (const caller of [attacker(1), stranger('clean')]) {
    come(caller)
    await turn()
  }
  wait(pauseMs)
  come(stranger('first'))
  come(stranger('clean'))
  come({ ...attacker(1), isRight: true }, 'failed before')
  for (let turns = 0; turns < 3; turns += 1) await turn()
  return served.slice(3)
}

test('a network that failed is treated like the others again after five minutes', async () => {
  expect(await order(1_000)).toEqual(['clean', 'failed before'])
  // Its last turn is longer ago than that of the other.
  expect(await order(301_000)).toEqual(['failed before', 'clean'])
})

test('no lane of a full line takes the places of another, whichever comes first', async () => {
  const crowds = {
    known: (index: number) => known(`known ${index}`, networkOf(index)),
    clean: (index: number) => stranger(`stranger ${index}`),
    rest: (index: number) => ({ ...attacker(0), account: `guess ${index}` }),
  }
  for (const first of ['known', 'clean', 'rest'] as const) {
    const { come, served, refused, turn } = openLine()
    come(attacker(0), 'fails')
    await turn()
    come(stranger('in turn'))
    for (let index = 0; index < 100; index += 1) come(crowds[first](index), first)
    for (const [lane, caller] of Object.entries(crowds)) {
      if (lane !== first) for (let index = 100; index < 105; index += 1) come(caller(index), lane)
    }
    await settled()
    expect(new Set(refused)).toEqual(new Set([first]))
    for (let turns = 0; turns < 62; turns += 1) await turn()
    for (const lane of Object.keys(crowds)) {
      if (lane !== first) expect(served.filter((name) => name === lane)).toHaveLength(5)
    }
  }
})

test('a full line turns away the caller who would come last, and everyone who has waited too long', async () => {
  const { come, served, refused, turn } = openLine(50)
  come(attacker(0))
  await turn()
  for (let index = 0; index < 61; index += 1) come(attacker(0), `guess ${index}`)
  expect(refused).toEqual([])
  come(stranger('ada'))
  await settled()
  expect(refused).toHaveLength(1)
  expect(refused[0]).toStartWith('guess')
  for (let turns = 0; turns < 3; turns += 1) await turn()
  expect(served).toContain('ada')
  await Bun.sleep(100)
  expect(served).toHaveLength(1 + 1 + 3)
  expect(refused).toHaveLength(1 + 61 + 1 - served.length)
})
