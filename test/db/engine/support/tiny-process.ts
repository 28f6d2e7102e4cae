import { openTiny } from './tiny-store.ts'

// A store in its own process. It takes orders as lines of JSON on stdin and answers each with a line on stdout.
// Usage: tiny-process.ts FILE server|operator PAGES, where PAGES in the WAL start a checkpoint

export type Order =
  | { readonly kind: 'add' | 'spend'; readonly id: string }
  | { readonly kind: 'count' | 'health' | 'statistics' | 'faults' | 'close' | 'die' | 'exit' }

const [, , file = '', role = '', pages = ''] = process.argv
let faults = 0
const store = await openTiny(file, {
  role: role === 'operator' ? 'operator' : 'server',
  checkpointAfterPages: Number(pages),
  onFault: () => (faults += 1),
})

const obey = async (order: Order): Promise<unknown> => {
  switch (order.kind) {
    case 'add':
      return store.transaction(async (notes) => notes.add(order.id).then(() => 'added'))
    case 'spend':
      return store.transaction((notes) => notes.spend(order.id, 1))
    case 'count':
      return store.queries.count()
    case 'health':
      return store.health()
    case 'statistics':
      return store.statistics()
    case 'faults':
      return faults
    case 'close':
      return store.close().then(() => 'closed')
    case 'die':
      return process.kill(process.pid, 'SIGKILL')
    case 'exit':
      return process.exit(1)
    default:
      return order satisfies never
  }
}

const answer = async (line: string): Promise<void> => {
  const reply = await obey(JSON.parse(line)).catch((error: unknown) => ({
    refused: error instanceof Error && 'code' in error ? error.code : String(error),
  }))
  console.log(JSON.stringify(reply))
}

console.log(JSON.stringify('open'))
for await (const line of console) void answer(line)
