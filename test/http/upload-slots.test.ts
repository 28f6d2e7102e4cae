import { expect, test } from 'bun:test'
import { createUploadSlots, longestLine } from '../../src/http/upload-slots.ts'

test('so many hold a slot at a time; the next one waits for the first that is handed back, in the order of asking', async () => {
  const slots = createUploadSlots(2, 10_000)
  const [first] = [await slots.take(), await slots.take()]
  const held: string[] = []
  const third = slots.take().then((release) => (held.push('third'), release))
  const fourth = slots.take().then((release) => (held.push('fourth'), release))
  await Bun.sleep(1)
  expect(held).toEqual([])
  first()
  first() // a second time hands nothing back
  const release = await third
  await Bun.sleep(1)
  expect(held).toEqual(['third'])
  release()
  await fourth
  expect(held).toEqual(['third', 'fourth'])
})

test('whoever waits too long is told to come back, and no slot is lost with them', async () => {
  const slots = createUploadSlots(1, 5)
  const release = await slots.take()
  expect(await slots.take().catch(({ code }) => code)).toBe('unavailable')
  release()
  expect(await slots.take()).toBeFunction()
})

test('64 wait at most; whoever comes after them is told at once to come back', async () => {
  const slots = createUploadSlots(1, 10_000)
  const release = await slots.take()
  expect(longestLine).toBe(64)
  const line = Array.from({ length: longestLine }, async () => (await slots.take())())
  expect(await slots.take().catch(({ code }) => code)).toBe('unavailable')
  release()
  await Promise.all(line)
  expect(await slots.take()).toBeFunction()
})
