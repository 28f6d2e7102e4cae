import { expect, test } from 'bun:test'
import type { Uploader } from '../../src/http/door.ts'
import { createUploadSlots, lineShares, slotShares } from '../../src/http/upload-body.ts'

const codeOf = async (taken: Promise<unknown>): Promise<unknown> => await taken.catch(({ code }) => code)
/** A new app of a new account in a new network each time. */
let counted = 0
const somebody = (who: Partial<Uploader> = {}): Uploader => {
  counted += 1
  return { app: `app ${counted}`, account: `account ${counted}`, network: `network ${counted}`, ...who }
}

test('at most five uploads hold a slot at a time, two of one app, three of one account and three of one network; the next ones wait in order for a free slot', async () => {
  expect(slotShares).toEqual({ all: 5, app: 2, account: 3, network: 3 })
  for (const [who, share] of [
    [{}, 5],
    [{ app: 'one' }, 2],
    [{ account: 'one' }, 3],
    [{ network: 'one' }, 3],
  ] as const) {
    const slots = createUploadSlots(10_000)
    const holding = await Promise.all(Array.from({ length: share }, async () => await slots.enter(somebody(who))))
    const began: string[] = []
    const first = slots.enter(somebody(who)).then((handBack) => (began.push('first'), handBack))
    const second = slots.enter(somebody(who)).then((handBack) => (began.push('second'), handBack))
    await Bun.sleep(1)
    expect(began).toEqual([])
    holding[0]?.()
    holding[0]?.() // a second call has no effect
    const handBack = await first
    await Bun.sleep(1)
    expect(began).toEqual(['first'])
    handBack()
    await second
    expect(began).toEqual(['first', 'second'])
  }
})

test('an app or a network that has its share and many uploads waiting does not keep others from a slot', async () => {
  const slots = createUploadSlots(10_000)
  const greedy = somebody({ app: 'greedy', network: 'crowded' })
  const handBacks = await Promise.all([slots.enter(greedy), slots.enter(greedy)])
  const waiting = Array.from({ length: lineShares.app }, async () => await slots.enter(greedy))
  for (const late of waiting) late.catch(() => undefined) // most of them still wait when this test ends
  expect(await slots.enter(somebody())).toBeFunction()
  await slots.enter(somebody({ network: 'crowded' }))
  const sameNetwork = slots.enter(somebody({ network: 'crowded' }))
  expect(await slots.enter(somebody())).toBeFunction()
  handBacks.forEach((handBack) => handBack())
  await Promise.all([waiting[0], waiting[1]])
  expect(
    await Promise.race([sameNetwork.then(() => 'began').catch(() => 'refused'), Bun.sleep(1).then(() => 'waits')]),
  ).toBe('waits')
})

test('later uploads may pass one that cannot begin', async () => {
  const slots = createUploadSlots(10_000)
  const [full] = await Promise.all([
    slots.enter(somebody({ app: 'one', network: 'a' })),
    slots.enter(somebody({ app: 'one', network: 'b' })),
  ])
  const others = await Promise.all(Array.from({ length: 3 }, async () => await slots.enter(somebody())))
  const third = slots.enter(somebody({ app: 'one', network: 'c' }))
  const behind = slots.enter(somebody())
  others[0]?.()
  expect(await behind).toBeFunction()
  full?.()
  expect(await third).toBeFunction()
})

test('an upload that waits too long is refused with the time to wait, and no slot is lost', async () => {
  const slots = createUploadSlots(5)
  const who = somebody({ app: 'one', network: 'a' })
  const [handBack] = await Promise.all([slots.enter(who), slots.enter(who)])
  expect(await codeOf(slots.enter(who))).toBe('unavailable')
  handBack()
  expect(await slots.enter(who)).toBeFunction()
})

test('at most 64 uploads wait, eight of one app and sixteen of one account or network; further ones are refused at once', async () => {
  expect(lineShares).toEqual({ all: 64, app: 8, account: 16, network: 16 })
  for (const [who, held, share] of [
    [{}, 5, 64],
    [{ app: 'one' }, 2, 8],
    [{ account: 'one' }, 3, 16],
    [{ network: 'one' }, 3, 16],
  ] as const) {
    const slots = createUploadSlots(10_000)
    const holding = await Promise.all(Array.from({ length: held }, async () => await slots.enter(somebody(who))))
    const line = Array.from({ length: share }, async () => (await slots.enter(somebody(who)))())
    expect(await codeOf(slots.enter(somebody(who)))).toBe('unavailable')
    holding[0]?.()
    await Promise.all(line)
    expect(await slots.enter(somebody(who))).toBeFunction()
  }
})
