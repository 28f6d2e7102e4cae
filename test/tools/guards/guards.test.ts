import { afterAll, beforeAll, expect, test } from 'bun:test'
import { reasonOf, staleEntries } from './equivalent.ts'
import { weave } from './weave.ts'
import { createWorkplaces, everyMutant } from './workplace.ts'

// The quick form: guards are found, and the tests notice one that is broken. `bun run prove guards` breaks them all.

let guards: Awaited<ReturnType<typeof createWorkplaces>>
beforeAll(async () => {
  guards = await createWorkplaces(1, 'src/domain/pkce.ts')
})
afterAll(() => {
  for (const workplace of guards.workplaces) workplace.remove()
})

const breaksIn = async (source: string, file = 'src/domain/door.ts') =>
  (await weave(source, file, 1, './switches.ts')).mutants.map(({ kind, change }) => `${kind} ${change}`)

test('refusals, parts of conditions, answers, bounds, audit events and rules in a list are guards', async () => {
  expect(await breaksIn(`if (a === null || b) throw refuse('x')`)).toEqual([
    'guard never: a === null || b',
    'part left out: a === null',
    'part left out: b',
  ])
  expect(await breaksIn('const isLive = (row) => row.end > now')).toEqual([
    'answer always yes: row.end > now',
    'answer always no: row.end > now',
    'bound >=: row.end > now',
  ])
  expect(await breaksIn('await q.audit.insert(row)')).toEqual(['audit left out: await q.audit.insert(row)'])
  expect(await breaksIn('await change.record(facts)')).toEqual(['audit left out: await change.record(facts)'])
  expect(await breaksIn(`const rules = [['scheme', isHttps], ['host', isHost]]`)).toEqual([
    `rule left out: ['scheme', isHttps]`,
    `rule left out: ['host', isHost]`,
  ])
})

test('conditions of a query and columns that an update sets are guards', async () => {
  const source = `const changed = await db.update(grants).set({ end: now, ...noRetry }).where(and(eq(grants.id, id), gt(grants.end, now)))`
  expect(await breaksIn(source, 'db/queries/grants.ts')).toEqual([
    'set left out: end: now',
    'set left out: ...noRetry',
    'where left out: eq(grants.id, id)',
    'where left out: gt(grants.end, now)',
    'bound gte: gt',
  ])
})

test('the rule and the ticket that a page acts under are guards', async () => {
  expect(await breaksIn(`await visit.as(ownsApp(id), ticket).do(end, id)`)).toEqual([
    'call left out: await visit.as(ownsApp(id), ticket).do(end, id)',
    'guard left out: ownsApp(id)',
    'guard left out: ticket',
  ])
})

test('every break with a reason why it changes nothing exists', async () => {
  expect(staleEntries(await everyMutant())).toEqual([])
})

test('the reason why a break changes nothing is found by its line and its change, in any file', async () => {
  const line = `if (owner === null) throw new Error('an app has no owner')`
  const { mutants } = await weave(`  ${line}`, 'src/operations/renamed.ts', 1, './switches.ts')
  expect(mutants.map(reasonOf)).toEqual(['an app has an owner: a foreign key of the store'])
  expect(reasonOf({ text: line, change: 'always: owner === null' })).toBeUndefined()
})

test('the tests pass with every guard in place, and fail if the code verifier is not compared', async () => {
  const tests = ['test/domain/pkce.test.ts']
  const compared = guards.mutants.find(({ change }) => change.startsWith('left out: sameHash('))
  const [workplace] = guards.workplaces
  const whole = await workplace?.run(tests, { broken: 0, survey: true, limitMs: 60_000 })
  expect(whole?.outcome).toBe('passed')
  expect(whole?.seen).toContain(compared?.id)
  const broken = await workplace?.run(tests, { broken: compared?.id ?? 0, limitMs: 60_000 })
  expect(broken?.outcome).toBe('failed')
})
