import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seed, seeded } from '../../support/proof.ts'
import { reasonOf, staleEntries } from './equivalent.ts'
import type { BreakKind } from './find-breaks.ts'
import { hunt, type Verdict } from './hunt.ts'
import { survey } from './survey.ts'
import type { Mutant } from './weave.ts'
import { createWorkplaces, folderOf, testFiles, type TestRun, type Workplace } from './workplace.ts'

/*
 * Mutation testing: breaks each guard in turn and runs the tests, which must fail every time. `bun run prove guards` runs this;
 * see test/prove.ts. Started directly it has more options:
 *   --only PATTERN, --tests PATTERN   source files and test files
 *   --kinds guard,part,…              kinds of breaks
 *   --patience SECONDS                of tests per break
 *   --out FOLDER                      keeps the results
 *   --again                           only the breaks that an earlier run into the same folder did not see noticed
 *   --on                              only the breaks that an earlier run into the same folder did not reach
 */

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    out: { type: 'string', default: Bun.env['PROOF_OUT'] ?? '' },
    tests: { type: 'string', default: '' },
    kinds: { type: 'string', default: '' },
    patience: { type: 'string', default: '600' },
    again: { type: 'boolean', default: false },
    on: { type: 'boolean', default: false },
  },
})

/** The most dangerous first. */
const order: readonly BreakKind[] = [
  'guard',
  'part',
  'where',
  'answer',
  'audit',
  'choice',
  'call',
  'rule',
  'set',
  'bound',
  'constant',
]

const placeOf = (mutant: Mutant): string => `${mutant.file}:${mutant.line} ${mutant.kind} ${mutant.change}`

const chosen = (mutants: readonly Mutant[], done: ReadonlySet<string>): readonly Mutant[] => {
  const kinds = values.kinds === '' ? order : order.filter((kind) => values.kinds.split(',').includes(kind))
  const isWanted = ({ kind, file }: Mutant) => kinds.includes(kind) && new RegExp(values.only).test(file)
  const all = mutants.filter((mutant) => isWanted(mutant) && !done.has(placeOf(mutant)))
  const below = seeded(seed)
  const count = Math.min(all.length, Number(Bun.env['PROOF_ROUNDS'] ?? all.length))
  const rest = [...all]
  const drawn = Array.from({ length: count }, () => rest.splice(below(rest.length), 1)).flat()
  const sample = new Set(drawn)
  return all
    .filter((mutant) => sample.has(mutant))
    .toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || a.id - b.id)
}

const readJson = async <T>(path: string, empty: T): Promise<T> => {
  const file = Bun.file(path)
  return path !== '' && (await file.exists()) ? await file.json() : empty
}

const pathIn = (name: string): string => (values.out === '' ? '' : join(values.out, name))
const keep = (name: string, value: unknown): void => {
  if (values.out !== '') writeFileSync(pathIn(name), JSON.stringify(value, null, 1))
}

const countBy = (verdicts: readonly Verdict[], nameOf: (verdict: Verdict) => string): void => {
  for (const name of [...new Set(verdicts.map(nameOf))].toSorted()) {
    const group = verdicts.filter((verdict) => nameOf(verdict) === name)
    const noticed = group.filter(({ outcome }) => outcome === 'noticed' || outcome === 'hung').length
    console.log(`  ${name.padEnd(20)}${String(noticed).padStart(6)} of ${group.length} noticed`)
  }
}

/** Removes the copies however the program ends. */
const removeAtEnd = (workplaces: readonly Workplace[]): void => {
  const remove = () => {
    for (const workplace of workplaces) workplace.remove()
  }
  process.once('exit', remove)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
}

const main = async (): Promise<boolean> => {
  if (values.out !== '') mkdirSync(values.out, { recursive: true })
  const { mutants, workplaces } = await createWorkplaces(2)
  removeAtEnd(workplaces)
  const source = String(Bun.hash(mutants.map(({ file, change }) => file + change).join('\n')))
  const known = new Map(Object.entries(await readJson<Record<string, TestRun>>(pathIn(`survey-${source}.json`), {})))
  const files = testFiles().filter((file) => new RegExp(values.tests).test(file))
  const surveyed = await survey(workplaces, files, known, (text) => {
    if (text !== null) console.log(text)
    keep(`survey-${source}.json`, Object.fromEntries(known))
  })
  keep(`survey-${source}.json`, Object.fromEntries(known))
  const before = await readJson<Verdict[]>(pathIn('verdicts.json'), [])
  const isKept = ({ outcome }: Verdict) => values.on || (values.again && (outcome === 'noticed' || outcome === 'hung'))
  const earlier = before.filter(isKept)
  const places = new Set(mutants.map(placeOf))
  const verdicts = earlier.filter((verdict) => places.has(placeOf(verdict)))
  const hunted = chosen(mutants, new Set(verdicts.map(placeOf)))
  console.log(
    `${hunted.length} of ${mutants.length} ways to break a guard, ${surveyed.length} of ${files.length} test files`,
  )
  await hunt(workplaces, hunted, { mutants, surveyed }, Number(values.patience), (verdict) => {
    verdicts.push(verdict)
    if (verdicts.length % 5 === 0) keep('verdicts.json', verdicts)
    if (verdict.outcome === 'noticed' || verdict.outcome === 'hung') return
    const reason = reasonOf(verdict)
    const word = reason === undefined ? verdict.outcome.toUpperCase() : `changes nothing visible (${reason})`
    console.log(
      `${word} ${placeOf(verdict)}, line: ${verdict.text}${verdict.isComplete ? '' : ' (not all tests were run)'}`,
    )
  })
  keep('verdicts.json', verdicts)
  countBy(verdicts, ({ kind }) => kind)
  countBy(verdicts, ({ file }) => folderOf(file))
  const open = verdicts.filter(({ outcome }) => outcome === 'survived' || outcome === 'unseen')
  const survivors = open.filter((verdict) => reasonOf(verdict) === undefined)
  console.log(
    `${verdicts.length} broken guards, ${verdicts.length - open.length} noticed, ${open.length - survivors.length} change nothing, ${survivors.length} survive`,
  )
  const stale = staleEntries(mutants)
  for (const entry of stale) console.log(`STALE, equivalent.ts names a break that does not exist: ${entry}`)
  return survivors.length === 0 && stale.length === 0
}

process.exit((await main()) ? 0 : 1)
