import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

/*
 * Reads the memory that a core dump of a process would contain. A real dump takes minutes, because a runtime reserves
 * gigabytes of addresses that it never uses. Linux says which pages exist.
 */

const pageBytes = 4_096
const entryBytes = 8
const blockPages = 2_048

type Region = { readonly from: number; readonly pages: number }

/** All mapped, readable regions, except the pages of the kernel. */
const regionsOf = (pid: number): readonly Region[] =>
  readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) r(?!.*\[v)/.exec(line) ?? []
      if (from === '') return []
      const start = Number.parseInt(from, 16)
      return [{ from: start, pages: (Number.parseInt(to, 16) - start) / pageBytes }]
    })

/** The two highest bits of an entry say whether a page is in memory or swapped out. */
const presentIn = (pagemap: number, { from, pages }: Region): readonly boolean[] => {
  const entries = Buffer.alloc(pages * entryBytes)
  const read = readSync(pagemap, entries, 0, entries.length, (from / pageBytes) * entryBytes)
  return Array.from(
    { length: read / entryBytes },
    (_, page) => ((entries[page * entryBytes + entryBytes - 1] ?? 0) & 0xc0) !== 0,
  )
}

/** Runs of adjacent pages of a region that are present. */
function* runsOf(present: readonly boolean[]): Generator<{ readonly first: number; readonly count: number }> {
  for (let first = present.indexOf(true); first !== -1; first = present.indexOf(true, first)) {
    const gap = present.indexOf(false, first)
    const end = gap === -1 ? present.length : gap
    yield { first, count: end - first }
    first = end
  }
}

/** Blocks of the memory of a stopped process. Adjacent blocks overlap by this many bytes. */
export function* memoryOf(pid: number, overlapBytes: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const pagemap = openSync(`/proc/${pid}/pagemap`, 'r')
  const block = Buffer.alloc(blockPages * pageBytes)
  try {
    for (const region of regionsOf(pid)) {
      for (const { first, count } of runsOf(presentIn(pagemap, region))) {
        const end = region.from + (first + count) * pageBytes
        const step = block.length - overlapBytes
        for (let at = region.from + first * pageBytes; at < end; at += step) {
          yield block.subarray(0, readSync(memory, block, 0, Math.min(block.length, end - at), at))
        }
      }
    }
  } finally {
    closeSync(memory)
    closeSync(pagemap)
  }
}
