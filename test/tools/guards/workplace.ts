import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { type Mutant, weave } from './weave.ts'

const root = resolve(import.meta.dir, '../../..')
const here = relative(root, import.meta.dir)
const notCopied = new Set(['.git', 'node_modules', 'dist', 'data'])

/** The files that contain guards: rules, operations, queries, endpoints, and the pages that check who may do what. */
const guarded = [
  'src/{domain,operations,http}/**/*.ts',
  'db/queries/*.ts',
  'src/pages/*.ts',
  'src/pages/sign-in.tsx',
  'src/pages/front-door/*.{ts,tsx}',
  'src/pages/desk/desk-page.tsx',
  'src/pages/account/{installs,install-question,open-app}.tsx',
]
/** Descriptions of the API, the demo, and types. */
const unguarded = /\.d\.ts$|http\/(contract|docs|openapi)|operations\/database\//

/** A copy of the repository in which any one guard can be broken. What its tests leave behind stays in it. */
export type Workplace = {
  readonly folder: string
  /** Runs test files, with the guard of this number broken; 0 breaks none. */
  run(files: readonly string[], options: RunOptions): Promise<TestRun>
  remove(): void
}
type RunOptions = { readonly broken: number; readonly survey?: boolean; readonly limitMs: number }

export type TestRun = {
  readonly outcome: 'passed' | 'failed' | 'hung'
  readonly seconds: number
  /** The first test that failed. */
  readonly failed: string | null
  /** Of a survey: the breaks that would have changed something. */
  readonly seen: readonly number[]
}

/** The guarded source files, from the root. Throws for a pattern that matches no file. */
const guardedFiles = (): readonly string[] =>
  guarded
    .flatMap((pattern) => {
      const files = Array.from(new Bun.Glob(pattern).scanSync({ cwd: root }))
      if (files.length === 0) throw new Error(`No file matches ${pattern}.`)
      return files
    })
    .filter((file) => !unguarded.test(file))
    .toSorted()

/** Every way to break a guard, and the woven source of each file. `only` limits it to paths that contain it. */
const weaveAll = async (switches: string, only = '') => {
  const mutants: Mutant[] = []
  const sources = new Map<string, string>()
  for (const file of guardedFiles().filter((path) => path.includes(only))) {
    const woven = await weave(textOf(file), file, mutants.length + 1, switches)
    sources.set(file, woven.code)
    mutants.push(...woven.mutants)
  }
  return { mutants, sources }
}

/** Every way to break a guard of the program. */
export const everyMutant = async (): Promise<readonly Mutant[]> => (await weaveAll('switches.ts')).mutants

/** Makes `count` copies of the repository and weaves their sources; `only` limits it to paths that contain it. */
export const createWorkplaces = async (count: number, only = '') => {
  const folders = Array.from({ length: count }, copyRepository)
  let mutants: readonly Mutant[] = []
  for (const folder of folders) {
    const woven = await weaveAll(join(folder, here, 'switches.ts'), only)
    for (const [file, code] of woven.sources) writeFileSync(join(folder, file), code)
    mutants = woven.mutants
  }
  return { mutants, workplaces: folders.map(workplaceIn) }
}

const copyRepository = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'app-platform-guards-'))
  cpSync(root, folder, { recursive: true, filter: (from) => !notCopied.has(relative(root, from)) })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

const workplaceIn = (folder: string): Workplace => {
  const state = (name: string) => join(folder, here, name)
  const temporary = join(folder, 'left-behind')
  let endRun: (() => void) | null = null
  const prepare = ({ broken, survey = false }: RunOptions): void => {
    rmSync(temporary, { recursive: true, force: true })
    mkdirSync(temporary)
    writeFileSync(state('active'), String(broken))
    if (survey) writeFileSync(state('seen'), '')
    else rmSync(state('seen'), { force: true })
  }
  return {
    folder,
    run: async (files, options) => {
      prepare(options)
      const began = performance.now()
      const child = Bun.spawn(
        ['nice', '-n', '5', process.execPath, 'test', '--bail', '--path-ignore-patterns', '', ...files],
        {
          cwd: folder,
          env: {
            ...process.env,
            TEST_SUITE: 'all',
            TEST_TIMEOUT_MS: '30000',
            TMPDIR: temporary,
            TEST_PROGRAM: undefined, // made of the unbroken source
            TEST_FOLDER: undefined,
            PROOF_ROUNDS: undefined,
            PROOF_SEED: undefined,
          },
          stdio: ['ignore', 'ignore', 'pipe'],
          detached: true,
        },
      )
      let isHung = false
      const end = () => {
        try {
          process.kill(-child.pid, 'SIGKILL') // and the servers that the tests started
        } catch {
          // It has ended.
        }
      }
      endRun = end
      const timer = setTimeout(() => {
        isHung = true
        end()
      }, options.limitMs)
      const output = await new Response(child.stderr).text()
      const code = await child.exited
      clearTimeout(timer)
      end()
      const seen = options.survey === true ? readFileSync(state('seen'), 'utf8').split('\n').filter(Boolean) : []
      return {
        outcome: isHung ? 'hung' : code === 0 ? 'passed' : 'failed',
        seconds: (performance.now() - began) / 1_000,
        failed: /^\(fail\) (.*?)(?: \[[^\]]*\])?$/m.exec(output)?.[1] ?? null,
        seen: [...new Set(seen.map(Number))],
      }
    },
    remove: () => {
      endRun?.()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The test files that can notice a break in a copy, from the root. */
export const testFiles = (): readonly string[] =>
  [...new Bun.Glob('test/**/*.test.ts').scanSync({ cwd: root })].filter((file) => !excluded.test(file)).toSorted()

/** These read the source as text, run another program than the copy, or kill at random moments. */
const excluded = new RegExp(
  `^test/(architecture|readme|binary|bench|clients|db/upgrade|faults/(kill|webhook-kills|power-loss))|^${here}`,
)

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')
export const folderOf = (file: string): string => dirname(file).split('/').slice(0, 2).join('/')
