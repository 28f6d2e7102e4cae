/** Logs three megabytes, reports that, waits for the end of its input, and exits at once after its last line. */
import { standardErrorWriter } from '../../../src/runtime/log-writer.ts'

const writer = standardErrorWriter()
for (let line = 0; line < 3_000; line += 1) {
  writer.write(`${String(line).padStart(1_023, '.')}\n`)
  if (line % 100 === 0) await new Promise<void>((resolve) => setImmediate(resolve))
}
await Bun.write(Bun.stdout, 'logged\n')
await Bun.stdin.text()
writer.write('last words\n')
process.exit(0)
