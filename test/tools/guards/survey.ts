import { basename } from 'node:path'
import type { Mutant } from './weave.ts'
import { type TestRun, textOf, type Workplace } from './workplace.ts'

/** A test file, and which breaks it could notice. */
export type Surveyed = { readonly file: string; readonly seconds: number; readonly seen: ReadonlySet<number> }

const patienceMs = 240_000

/**
 * Runs each test file once with no guard broken. A file that fails even then is named and left out. Results of an earlier survey
 * of the same code come from `known`.
 */
export const survey = async (
  workplaces: readonly Workplace[],
  files: readonly string[],
  known: Map<string, TestRun>,
  tell: (fault: string | null) => void,
): Promise<readonly Surveyed[]> => {
  const found: Surveyed[] = []
  const queue = [...files]
  const work = async (workplace: Workplace) => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const key = `${file} ${Bun.hash(textOf(file))}`
      const run = known.get(key) ?? (await workplace.run([file], { broken: 0, survey: true, limitMs: patienceMs }))
      if (run.outcome === 'passed') {
        known.set(key, run)
        found.push({ file, seconds: run.seconds, seen: new Set(run.seen) })
        tell(null)
      } else tell(`left out, because it fails with all guards in place: ${file} (${run.failed ?? run.outcome})`)
    }
  }
  await Promise.all(workplaces.map(work))
  return found
}

/**
 * The test files that could notice this break. A break that is decided when its module is loaded is seen by every file that loads
 * the module; of those, only files that go on to use the module or name it.
 */
export const witnesses = (mutant: Mutant, mutants: readonly Mutant[], surveyed: readonly Surveyed[]) => {
  const siblings = mutants.filter(({ file, isTopLevel }) => file === mutant.file && !isTopLevel)
  const seeing = surveyed.filter(({ seen }) => seen.has(mutant.id))
  if (!mutant.isTopLevel || siblings.length === 0) return seeing
  const names = ({ file }: Surveyed) => textOf(file).includes(`/${basename(mutant.file)}'`)
  return seeing.filter((test) => siblings.some(({ id }) => test.seen.has(id)) || names(test))
}
