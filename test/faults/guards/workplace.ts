import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { type Mutant, weave } from './weave.ts'

const root = resolve(import.meta.dir, '../../..')
const here = relative(root, import.meta.dir)
const left = new Set(['.git', 'node_modules', 'dist', 'data'])

/** Where the guards are: what decides, what acts, what asks the store, and the doors in front of it. */
const guarded = [
  'src/{domain,operations,http}/**/*.ts',
  'db/queries/*.ts',
  'src/pages/*.ts',
  'src/pages/sign-in.tsx',
  'src/pages/front-door/*.{ts,tsx}',
  'src/pages/{desk/desk-page,console/own-app}.tsx',
  'src/pages/account/{installs,install-question,open-app}.tsx',
]
/** Descriptions of the API, the demo, and types. */
const unguarded = /\.d\.ts$|http\/(contract|docs|openapi)|operations\/database\//

/** A copy of the repository in which any one guard can be broken, with everything that its tests leave behind. */
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
  /** The breaks that would have changed something, when it was a survey. */
  readonly seen: readonly number[]
}

/** Copies the repository `count` times, woven; `only` narrows the source files down. */
export const createWorkplaces = async (count: number, only = '') => {
  const files = guarded
    .flatMap((pattern) => Array.from(new Bun.Glob(pattern).scanSync({ cwd: root })))
    .filter((file) => !unguarded.test(file) && file.includes(only))
  const folders = Array.from({ length: count }, copyRepository)
  const mutants: Mutant[] = []
  for (const file of files.toSorted()) {
    const source = await Bun.file(join(root, file)).text()
    for (const [index, folder] of folders.entries()) {
      const firstId = mutants.length + 1
      const woven = await weave(source, file, firstId, join(folder, here, 'switches.ts'))
      writeFileSync(join(folder, file), woven.code)
      if (index === folders.length - 1) mutants.push(...woven.mutants)
    }
  }
  return { mutants, workplaces: folders.map(workplaceIn) }
}

const copyRepository = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'app-platform-guards-'))
  cpSync(root, folder, { recursive: true, filter: (from) => !left.has(relative(root, from)) })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

const workplaceIn = (folder: string): Workplace => {
  const state = (name: string) => join(folder, here, name)
  const temporary = join(folder, 'left-behind')
  let endAll: (() => void) | null = null
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
          process.kill(-child.pid, 'SIGKILL') // the servers of the tests, too
        } catch {
          // It is over.
        }
      }
      endAll = end
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
      endAll?.()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Test files of the repository that can notice anything in a copy, from the root. */
export const testFiles = (): readonly string[] =>
  [...new Bun.Glob('test/**/*.test.ts').scanSync({ cwd: root })].filter((file) => !deaf.test(file)).toSorted()

/** They read the source as text, run another program than the copy, or kill at random moments. */
const deaf = new RegExp(
  `^test/(architecture|readme|binary|bench|clients|db/upgrade|faults/(kill|webhook-kills|power-loss))|^${here}`,
)

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')
export const folderOf = (file: string): string => dirname(file).split('/').slice(0, 2).join('/')
