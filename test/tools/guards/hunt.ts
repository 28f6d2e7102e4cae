import { basename } from 'node:path'
import { type Surveyed, witnesses } from './survey.ts'
import type { Mutant } from './weave.ts'
import type { Workplace } from './workplace.ts'

export type Verdict = Mutant & {
  readonly outcome: 'noticed' | 'hung' | 'survived' | 'unseen'
  /** The file and name of the test that noticed it. */
  readonly by: string | null
  readonly seconds: number
  /** Whether every test file that could notice it was run. */
  readonly isComplete: boolean
}

const isNamesake = (mutant: Mutant, { file }: Surveyed) =>
  basename(file, '.test.ts') === basename(mutant.file).replace(/\.tsx?$/, '')

/** How long the test files of one run take together: about as long as a run takes to start. */
const batchSeconds = 8

/** Breaks the guards one after the other and runs the tests until one fails, for at most `patience` seconds each. */
export const hunt = async (
  workplaces: readonly Workplace[],
  hunted: readonly Mutant[],
  { mutants, surveyed }: { readonly mutants: readonly Mutant[]; readonly surveyed: readonly Surveyed[] },
  patience: number,
  tell: (verdict: Verdict) => void,
): Promise<void> => {
  const queue = [...hunted]
  /** How often a test file has noticed a break in a source file. */
  const luck = new Map<string, number>()
  const luckOf = (mutant: Mutant, { file }: Surveyed) => luck.get(`${mutant.file} ${file}`) ?? 0
  const costOf = (mutant: Mutant, test: Surveyed) =>
    test.seconds / (1 + luckOf(mutant, test)) / (isNamesake(mutant, test) ? 20 : 1)

  const judge = async (workplace: Workplace, mutant: Mutant): Promise<Verdict> => {
    const tests = witnesses(mutant, mutants, surveyed).toSorted((a, b) => costOf(mutant, a) - costOf(mutant, b))
    let seconds = 0
    for (let next = 0; next < tests.length && seconds < patience;) {
      const batch = tests.slice(next, next + batchSize(tests, next))
      next += batch.length
      const expected = batch.reduce((sum, test) => sum + test.seconds, 0)
      const files = batch.map(({ file }) => file)
      const run = await workplace.run(files, { broken: mutant.id, limitMs: 20_000 + 4_000 * expected })
      seconds += run.seconds
      if (run.outcome === 'passed') continue
      for (const file of files)
        luck.set(`${mutant.file} ${file}`, (luck.get(`${mutant.file} ${file}`) ?? 0) + 1 / files.length)
      const outcome = run.outcome === 'hung' ? 'hung' : 'noticed'
      return {
        ...mutant,
        outcome,
        by: `${files.join(' ')}: ${run.failed ?? 'ended with an error'}`,
        seconds,
        isComplete: false,
      }
    }
    const isComplete = seconds < patience
    return { ...mutant, outcome: tests.length === 0 ? 'unseen' : 'survived', by: null, seconds, isComplete }
  }
  const work = async (workplace: Workplace) => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) tell(await judge(workplace, mutant))
  }
  await Promise.all(workplaces.map(work))
}

/** One file at a time for the first two runs, then several. */
const batchSize = (tests: readonly Surveyed[], from: number): number => {
  if (from < 2) return 1
  let seconds = 0
  const end = tests.findIndex((test, index) => index >= from && (seconds += test.seconds) > batchSeconds)
  return end === -1 ? tests.length - from : Math.max(1, end - from)
}
