import { expect } from 'bun:test'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { needs, programAt } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { test } = needs('mkfifo')

/** A pipe that is read only when the test does so, and a process that logs into it. */
const chattyProcess = () => {
  const path = join(temporaryFolder(), 'log')
  Bun.spawnSync([programAt('mkfifo'), path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'support/chatty.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: writer,
  })
  closeSync(writer)
  const output = child.stdout.getReader()
  return {
    child,
    stopReading: () => closeSync(reader),
    saidSo: async () => Buffer.from((await output.read()).value ?? []).toString(),
    /** Reads up to these words, or until the process has closed its end. */
    readTo: async (end: string) => {
      const bytes = Buffer.alloc(65_536)
      let text = ''
      while (!text.endsWith(end)) {
        const count = readWaiting(reader, bytes)
        if (count === 0) return text
        if (count > 0) text += bytes.toString('latin1', 0, count)
        else await Bun.sleep(1)
      }
      return text
    },
  }
}

const readWaiting = (descriptor: number, bytes: Buffer): number => {
  try {
    return readSync(descriptor, bytes)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return -1
    throw error
  }
}

test('a reader that stops reading does not stop the process, and gets every line when it continues', async () => {
  const { child, saidSo, readTo } = chattyProcess()
  expect(await saidSo()).toBe('logged\n')
  const logged = Array.from({ length: 3_000 }, (_, line) => `${String(line).padStart(1_023, '.')}\n`)
  expect(await readTo('.2999\n')).toBe(logged.join(''))
  await child.stdin.end()
  expect(await readTo('last words\n')).toBe('last words\n')
  expect(await child.exited).toBe(0)
})

test('a reader that goes away does not end the process', async () => {
  const { child, saidSo, stopReading } = chattyProcess()
  stopReading()
  expect(await saidSo()).toBe('logged\n')
  await child.stdin.end()
  expect(await child.exited).toBe(0)
})
