import { describe, expect, test } from 'bun:test'
import { createLogWriter } from '../../src/runtime/log-writer.ts'

const turn = async () => await new Promise<void>((resolve) => setImmediate(resolve))
const failure = (code: string) => Object.assign(new Error(code), { code })

/** A target that accepts `room` bytes at a time, and throws the errors that the test sets. */
const target = () => {
  const state = {
    text: '',
    calls: 0,
    pauses: 0,
    room: Number.POSITIVE_INFINITY,
    fault: '',
    whilePaused: () => undefined,
  }
  const writer = createLogWriter({
    write: (bytes) => {
      state.calls += 1
      if (state.fault !== '') throw failure(state.fault)
      const taken = bytes.subarray(0, state.room)
      state.text += Buffer.from(taken).toString('latin1')
      return taken.length
    },
    pause: () => {
      state.pauses += 1
      state.whilePaused()
    },
  })
  return { state, writer }
}

const until = async (reached: () => boolean) => {
  while (!reached()) await Bun.sleep(1)
}

describe('the log is written', () => {
  test('once per turn of the event loop, in order', async () => {
    const { state, writer } = target()
    for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line)
    expect(state.calls).toBe(0)
    await turn()
    expect(state).toMatchObject({ text: 'a\nb\nc\n', calls: 1 })
  })

  test('at once if much has accumulated', () => {
    const { state, writer } = target()
    writer.write(`${'x'.repeat(70_000)}\n`)
    expect(state.text).toHaveLength(70_001)
  })

  test('in pieces if the reader accepts no more at once', async () => {
    const { state, writer } = target()
    state.room = 3
    writer.write('one line\nanother\n')
    await turn()
    expect(state.text).toBe('one line\nanother\n')
  })

  test('later if a pipe or a disk is full, and nothing is lost', async () => {
    const { state, writer } = target()
    for (const fault of ['EAGAIN', 'ENOSPC']) {
      state.fault = fault
      writer.write(`${fault}\n`)
      await turn()
      writer.write('meanwhile\n')
      await turn()
      state.fault = ''
      await until(() => state.text.endsWith(`${fault}\nmeanwhile\n`))
    }
    expect(state.text).toBe('EAGAIN\nmeanwhile\nENOSPC\nmeanwhile\n')
  })

  test('up to a limit of memory; dropped lines are counted, and the count is written', async () => {
    const { state, writer } = target()
    state.fault = 'EAGAIN'
    const line = `${'x'.repeat(1_023)}\n`
    for (let count = 0; count < 6_000; count += 1) writer.write(line)
    state.fault = ''
    writer.flush()
    const written = state.text.split('\n').filter((text) => text.startsWith('x')).length
    const dropped = /"event":"log.dropped","count":(\d+)/.exec(state.text)?.[1]
    expect(written).toBeLessThan(4_200)
    expect(written + Number(dropped)).toBe(6_000)
  })

  test('no more after the reader has closed the pipe', async () => {
    const { state, writer } = target()
    state.fault = 'EPIPE'
    writer.write('lost\n')
    await turn()
    const { calls } = state
    writer.write('lost too\n')
    await turn()
    writer.flush()
    expect(state.calls).toBe(calls)
  })

  test('completely when the process ends, with a limited wait for a slow reader', () => {
    const slow = target()
    slow.state.fault = 'EAGAIN'
    slow.state.whilePaused = () => {
      if (slow.state.pauses === 3) slow.state.fault = ''
      return undefined
    }
    slow.writer.write('last words\n')
    slow.writer.flush()
    expect(slow.state.text).toBe('last words\n')

    const stuck = target()
    stuck.state.fault = 'EAGAIN'
    stuck.writer.write('last words\n')
    stuck.writer.flush()
    expect(stuck.state.pauses).toBe(50)
  })
})
