import { expect, test } from 'bun:test'
import { startProgressBar } from '../../src/cli/progress-bar.ts'

const terminal = (isTTY: boolean) => {
  const written: string[] = []
  return { isTTY, written, write: (text: string) => written.push(text) }
}
/** A clock that advances by one second at each reading. */
const ticking = () => {
  let now = 0
  return () => (now += 1_000)
}

test('nothing is drawn if standard error is no terminal', () => {
  const pipe = terminal(false)
  const bar = startProgressBar(10, pipe, ticking())
  bar.advance(5)
  bar.say('5 lines')
  bar.end()
  expect(pipe.written).toEqual([])
})

test('a terminal shows the progress, and the bar is removed at the end', () => {
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

test('without a total only the text is shown', () => {
  const screen = terminal(true)
  startProgressBar(null, screen, ticking()).say('7 lines')
  expect(screen.written).toEqual(['\r\x1b[K7 lines'])
})

test('the bar is drawn at most every 50 ms', () => {
  const screen = terminal(true)
  const bar = startProgressBar(10, screen, () => 0)
  for (let step = 0; step < 1_000; step += 1) bar.advance(1)
  expect(screen.written).toHaveLength(1)
})
