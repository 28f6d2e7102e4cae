import { writeSync } from 'node:fs'
import { WalSync } from '../../../db/sqlite/commits.ts'
import { openTiny, type TinyStore } from '../../db/engine/support/tiny-store.ts'

// A small server, or an operator's command beside it, that prints `ack ID` for each note that it calls durable. Among them
// are transactions that fail after they have written.
// Usage: workload.ts FILE server|unsynced|operator PREFIX COUNT

const [, , file = '', role = '', prefix = '', count = ''] = process.argv

/** Says so at the moment a client would have its answer. */
const acknowledge = (id: string) => void writeSync(1, `ack ${id}\n`)

const addOne = async (store: TinyStore, index: number): Promise<void> => {
  const id = `${prefix}${index}`
  await store.transaction((notes) => notes.add(id, 'n'.repeat(100 + ((index * 37) % 3_000))))
  acknowledge(id)
}

/** Writes a note and fails, which undoes the batch that it is in. */
const failAfterAdding = async (store: TinyStore, index: number): Promise<void> =>
  await store
    .transaction(async (notes) => {
      await notes.add(`undone${prefix}${index}`)
      throw new Error('changed its mind')
    })
    .catch(() => {})

const operatorBeside = () =>
  Bun.spawn([process.execPath, import.meta.path, file, 'operator', 'o', '12'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })

// The same engine without its own sync: what remains is plain `synchronous = NORMAL`.
if (role === 'unsynced') WalSync.prototype.sync = () => Promise.resolve()

const store = await openTiny(file, { role: role === 'operator' ? 'operator' : 'server', checkpointAfterPages: 40 })
const beside = role === 'server' ? operatorBeside() : null
const total = Number(count)
for (let first = 0; first < total;) {
  const together = Math.min(total - first, 1 + (first % 7))
  const adding = Array.from({ length: together }, (_, offset) => addOne(store, first + offset))
  await Promise.all(first % 5 < 2 ? [...adding, failAfterAdding(store, first)] : adding)
  first += together
  if (first % 5 === 0) await Bun.sleep(100) // the thread of checkpoints looks twenty times a second, and a fast machine would be done
}
await beside?.exited
// The power is cut: nothing is closed.
process.kill(process.pid, 'SIGKILL')
