import { CommandFailed } from './command-failed.ts'
import { UsageError } from './usage-error.ts'

/** More than any password that can be used; the rest of a wrong file is not read. */
const mostBytes = 1024

/** The password on standard input, without the line end that `echo` adds. */
export const readPassword = async (): Promise<string> => {
  if (process.stdin.isTTY) {
    throw new UsageError('--password-stdin needs a pipe or a file: a terminal would show the password.')
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of Bun.stdin.stream()) {
    chunks.push(chunk)
    length += chunk.length
    if (length > mostBytes) break
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      .decode(Buffer.concat(chunks))
      .replace(/\r?\n$/, '')
  } catch {
    throw new CommandFailed(['The password is not UTF-8.'])
  }
}
