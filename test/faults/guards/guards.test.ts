import { afterAll, beforeAll, expect, test } from 'bun:test'
import { reasonOf } from './equivalent.ts'
import { weave } from './weave.ts'
import { createWorkplaces } from './workplace.ts'

// The quick form: that guards are found, and that a broken one is noticed. `bun run prove guards` breaks them all.

let bench: Awaited<ReturnType<typeof createWorkplaces>>
beforeAll(async () => {
  bench = await createWorkplaces(1, 'src/domain/pkce.ts')
})
afterAll(() => {
  for (const workplace of bench.workplaces) workplace.remove()
})

const breaksIn = async (source: string, file = 'src/domain/door.ts') =>
  (await weave(source, file, 1, './switches.ts')).mutants.map(({ kind, change }) => `${kind} ${change}`)

test('refusals, parts of conditions, answers, bounds, rows of the trail and rules in a list are found', async () => {
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
  expect(await breaksIn('await announce(q, stamp, facts)')).toEqual(['audit left out: await announce(q, stamp, facts)'])
  expect(await breaksIn(`const rules = [['scheme', isHttps], ['host', isHost]]`)).toEqual([
    `rule left out: ['scheme', isHttps]`,
    `rule left out: ['host', isHost]`,
  ])
})

test('the conditions of a query are found, and what an update changes', async () => {
  const source = `const changed = await db.update(grants).set({ end: now, ...noRetry }).where(and(eq(grants.id, id), gt(grants.end, now)))`
  expect(await breaksIn(source, 'db/queries/grants.ts')).toEqual([
    'set left out: end: now',
    'set left out: ...noRetry',
    'where left out: eq(grants.id, id)',
    'where left out: gt(grants.end, now)',
    'bound gte: gt',
  ])
})

test('a break that changes nothing is known by its line and its change, in whatever file it stands', async () => {
  const line = `if (owner === null) throw new Error('an app has no owner')`
  const { mutants } = await weave(`  ${line}`, 'src/operations/renamed.ts', 1, './switches.ts')
  expect(mutants.map(reasonOf)).toEqual(['an app has an owner: a foreign key of the store'])
  expect(reasonOf({ text: line, change: 'always: owner === null' })).toBeUndefined()
})

test('a verifier that is no longer compared is noticed, and nothing is as long as it is', async () => {
  const tests = ['test/domain/pkce.test.ts']
  const compared = bench.mutants.find(({ change }) => change === 'left out: timingSafeEqual(expected, actual)')
  const [workplace] = bench.workplaces
  const whole = await workplace?.run(tests, { broken: 0, survey: true, limitMs: 60_000 })
  expect(whole?.outcome).toBe('passed')
  expect(whole?.seen).toContain(compared?.id)
  const broken = await workplace?.run(tests, { broken: compared?.id ?? 0, limitMs: 60_000 })
  expect(broken?.outcome).toBe('failed')
})
