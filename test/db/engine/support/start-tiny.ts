import { join } from 'node:path'
import type { Order } from './tiny-process.ts'

export type TinyProcess = {
  /** Answers come in the order of the questions only if each is awaited before the next. */
  ask(order: Order): Promise<unknown>
  kill(): Promise<void>
  /** Ends the process by `process.exit(1)`, as after a fault. Returns the exit status. */
  exit(): Promise<number>
}

/** Starts a store in a process of its own, perhaps under another program such as strace, and waits until it is open. */
export const startTiny = async (
  file: string,
  role: 'server' | 'operator' = 'server',
  under: readonly string[] = [],
  checkpointAfterPages = 4_000,
): Promise<TinyProcess> => {
  const script = join(import.meta.dir, 'tiny-process.ts')
  const child = Bun.spawn([...under, process.execPath, script, file, role, String(checkpointAfterPages)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const lines = linesOf(child.stdout)
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`The store ended: ${await new Response(child.stderr).text()}`)
    return JSON.parse(value)
  }
  await next()
  return {
    ask: async (order) => {
      child.stdin.write(`${JSON.stringify(order)}\n`)
      await child.stdin.flush()
      return next()
    },
    kill: async () => {
      // Killing a tracer would leave its process running.
      if (under.length > 0) child.stdin.write(`${JSON.stringify({ kind: 'die' } satisfies Order)}\n`)
      else child.kill('SIGKILL')
      await child.exited
    },
    exit: () => {
      child.stdin.write(`${JSON.stringify({ kind: 'exit' } satisfies Order)}\n`)
      return child.exited
    },
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
