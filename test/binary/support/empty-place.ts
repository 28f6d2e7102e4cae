import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../../support/call.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { builtProgram } from './built-program.ts'

export type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }

/** A folder without source and without node_modules, and the binary started in it with nothing of our environment. */
type EmptyPlace = {
  readonly folder: string
  run(words: readonly string[], stdin?: string): Promise<Ran>
  /** Runs with --json and gives the one value; throws unless it exits 0 and says nothing on stderr. */
  json(words: readonly string[], stdin?: string): Promise<Json>
}

export const emptyPlace = async (env: Readonly<Record<string, string>> = {}): Promise<EmptyPlace> => {
  const program = await builtProgram()
  const folder = temporaryFolder()
  const run = async (words: readonly string[], stdin = ''): Promise<Ran> => {
    const child = Bun.spawn([program, ...words], {
      cwd: folder,
      env: { ...env },
      stdin: Buffer.from(stdin),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { exitCode: await child.exited, stdout, stderr }
  }
  const json = async (words: readonly string[], stdin?: string): Promise<Json> => {
    const { exitCode, stdout, stderr } = await run([...words, '--json'], stdin)
    if (exitCode !== 0 || stderr !== '') throw new Error(`${words.join(' ')} exited ${exitCode}: ${stderr}`)
    return JSON.parse(stdout)
  }
  return { folder, run, json }
}

/** What Bun itself would read from the folder that it is started in, each so that nobody could miss it. */
export const setTraps = (folder: string): void => {
  const sprung = 'require("node:fs").writeFileSync("sprung", "yes")\nthrow new Error("sprung")\n'
  for (const name of ['.env', '.env.local', '.env.production', '.env.development']) {
    writeFileSync(join(folder, name), 'PORT=many\nRATE_LIMIT=perhaps\nDATABASE_URL=file:./sprung\n')
  }
  writeFileSync(join(folder, 'trap.js'), sprung)
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./trap.js"]\n[run]\npreload = ["./trap.js"]\n')
  writeFileSync(join(folder, 'package.json'), '{"name":"sprung","version":"9.9.9","type":"commonjs"}')
  writeFileSync(join(folder, 'tsconfig.json'), '{"compilerOptions":{"paths":{"*":["./trap.js"]}}}')
  for (const name of ['commander', 'elysia', '@node-rs/bcrypt', 'drizzle-orm']) {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true })
    writeFileSync(join(folder, 'node_modules', name, 'index.js'), sprung)
  }
}
