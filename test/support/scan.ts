import { closeSync, openSync, readSync } from 'node:fs'
import { memoryOf } from './memory.ts'

/** The random part of a secret, between the key of the row and the checksum. */
const randomPart = /^ap[a-z]{1,2}(?:_dev|_live)?_[0-9A-Za-z]{22}([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/
const needleLength = 20
const blockBytes = 8 * 1024 * 1024

/** The part of a secret to search for: the beginning of its random part. Null if it is not one of our secrets. */
export const needleOf = (secret: string): string | null => randomPart.exec(secret)?.[1]?.slice(0, needleLength) ?? null

/** The needles that occur in the text, found in one pass however many there are. */
export const findNeedles = (needles: ReadonlySet<string>, text: string): Set<string> => {
  const found = new Set<string>()
  for (const [run] of text.matchAll(/[0-9A-Za-z]{20,}/g)) {
    for (let at = 0; at + needleLength <= run.length; at += 1) {
      const window = run.slice(at, at + needleLength)
      if (needles.has(window)) found.add(window)
    }
  }
  return found
}

/** The needles that occur in a file of any size, which is read in overlapping blocks. */
export const findNeedlesInFile = (needles: ReadonlySet<string>, file: string): Set<string> => {
  const found = new Set<string>()
  const block = Buffer.alloc(blockBytes)
  const descriptor = openSync(file, 'r')
  try {
    let rest = ''
    for (;;) {
      const read = readSync(descriptor, block)
      if (read === 0) return found
      const text = rest + block.toString('latin1', 0, read)
      for (const needle of findNeedles(needles, text)) found.add(needle)
      rest = text.slice(-needleLength)
    }
  } finally {
    closeSync(descriptor)
  }
}

/** The needles in the memory of a process, which is stopped meanwhile, and the number of bytes searched. */
export const findNeedlesInMemory = (
  needles: ReadonlySet<string>,
  pid: number,
): { readonly found: ReadonlySet<string>; readonly bytes: number } => {
  const found = new Set<string>()
  let bytes = 0
  process.kill(pid, 'SIGSTOP')
  try {
    for (const block of memoryOf(pid, needleLength)) {
      bytes += block.length
      for (const needle of findNeedles(needles, block.toString('latin1'))) found.add(needle)
    }
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  return { found, bytes }
}
