import { expect, test } from 'bun:test'
import { startTiny } from './support/start-tiny.ts'
import { faultsIn, openTiny, temporaryFolder } from './support/tiny-store.ts'

test('every answered change is there after kill -9, ten times in a row', async () => {
  using folder = temporaryFolder()
  const answered: string[] = []
  for (let life = 0; life < 10; life += 1) {
    const server = await startTiny(folder.file)
    for (let index = 0; index <= life; index += 1) {
      const id = `life-${life}-note-${index}`
      expect(await server.ask({ kind: 'add', id })).toBe('added')
      answered.push(id)
    }
    await server.kill()
  }

  const store = await openTiny(folder.file)
  expect((await store.queries.ids()).sort()).toEqual(answered.sort())
  expect(await faultsIn(folder.file)).toEqual([])
  await store.close()
})

test('one note spent from three processes at once is spent once', async () => {
  using folder = temporaryFolder()
  const server = await startTiny(folder.file)
  const operators = await Promise.all([startTiny(folder.file, 'operator'), startTiny(folder.file, 'operator')])
  const everyone = [server, ...operators]

  for (let round = 0; round < 10; round += 1) {
    const id = `n${round}`
    await server.ask({ kind: 'add', id })
    const wins = await Promise.all(everyone.map((process) => process.ask({ kind: 'spend', id })))
    expect(wins.sort()).toEqual([false, false, true])
  }
  await Promise.all(everyone.map((process) => process.kill()))
})

test('writers in three processes wait for each other and lose nothing', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const operators = await Promise.all([startTiny(folder.file, 'operator'), startTiny(folder.file, 'operator')])
  const fifty = Array.from({ length: 50 }, (_, index) => index)
  const inTurn = async (name: string, add: (id: string) => Promise<unknown>) => {
    for (const index of fifty) await add(`${name}-${index}`)
  }

  await Promise.all([
    inTurn('server', (id) => store.transaction((notes) => notes.add(id))),
    ...operators.map((operator, which) =>
      inTurn(`operator-${which}`, async (id) => expect(await operator.ask({ kind: 'add', id })).toBe('added')),
    ),
  ])

  expect(await store.queries.count()).toBe(150)
  await Promise.all(operators.map((operator) => operator.kill()))
  await store.close()
})
