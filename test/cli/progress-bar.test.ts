import { expect, test } from 'bun:test'
import { startProgressBar } from '../../src/cli/progress-bar.ts'

const terminal = (isTTY: boolean) => {
  const written: string[] = []
  return { isTTY, written, write: (text: string) => written.push(text) }
}
/** A second passes with every look at the clock. */
const ticking = () => {
  let now = 0
  return () => (now += 1_000)
}

test('where nobody looks nothing is drawn', () => {
  const pipe = terminal(false)
  const bar = startProgressBar(10, pipe, ticking())
  bar.advance(5)
  bar.say('5 lines')
  bar.end()
  expect(pipe.written).toEqual([])
})

test('a terminal sees how far it is, and nothing is left of it in the end', () => {
  const screen = terminal(true)
  const bar = startProgressBar(10, screen, ticking())
  bar.advance(5)
  bar.say('5 lines')
  bar.advance(50)
  bar.end()
  bar.end()
  expect(screen.written).toEqual([
    `\r\x1b[K[${'#'.repeat(15)}${'.'.repeat(15)}]  50% `,
    `\r\x1b[K[${'#'.repeat(15)}${'.'.repeat(15)}]  50% 5 lines`,
    `\r\x1b[K[${'#'.repeat(30)}] 100% 5 lines`,
    '\r\x1b[K',
  ])
})

test('without a total it shows what was said', () => {
  const screen = terminal(true)
  startProgressBar(null, screen, ticking()).say('7 lines')
  expect(screen.written).toEqual(['\r\x1b[K7 lines'])
})

test('it draws no more often than a person can see', () => {
  const screen = terminal(true)
  const bar = startProgressBar(10, screen, () => 0)
  for (let step = 0; step < 1_000; step += 1) bar.advance(1)
  expect(screen.written).toHaveLength(1)
})
