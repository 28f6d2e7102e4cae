import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Json } from '../../support/call.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import type { Credentials } from '../../support/world.ts'
import { type Run, runHere } from './run.ts'

/** A developer with their own configuration folder and an environment of only the given variables. */
export type Developer = {
  /** XDG_CONFIG_HOME. */
  readonly home: string
  /** The folder of the credential files. */
  readonly kept: string
  run(words: readonly string[], env?: Readonly<Record<string, string>>, cwd?: string): Promise<Run>
  /** The one JSON value on stdout. Throws unless the program exits 0. */
  json(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Json>
}

export const newDeveloper = (settings: Readonly<Record<string, string>> = {}): Developer => {
  const home = join(temporaryFolder(), 'config')
  const at = async (words: readonly string[], env = {}, cwd?: string) =>
    await runHere(words, { env: { XDG_CONFIG_HOME: home, ...settings, ...env }, ...(cwd === undefined ? {} : { cwd }) })
  return {
    home,
    kept: join(home, 'app-platform'),
    run: at,
    json: async (words, env) => {
      const { exitCode, stdout, stderr } = await at([...words, '--json'], env)
      if (exitCode !== 0) throw new Error(`${words.join(' ')} exited ${exitCode}: ${stderr}`)
      if (stdout.indexOf('\n') !== stdout.length - 1) throw new Error(`not one line: ${stdout}`)
      return JSON.parse(stdout)
    },
  }
}

/** The two variables that a pipeline sets. */
export const asVariables = ({ clientId, clientSecret }: Credentials) => ({
  APP_PLATFORM_CLIENT_ID: clientId,
  APP_PLATFORM_CLIENT_SECRET: clientSecret,
})

/** A developer in a pipeline that uses this server. */
export const pipeline = (url: string, credentials: Credentials): Developer =>
  newDeveloper({ ...asVariables(credentials), APP_PLATFORM_URL: url })

/** A folder with these files, and a default manifest unless one is given. */
export const appFolder = (files: Readonly<Record<string, string | Uint8Array>> = {}): string => {
  const folder = join(temporaryFolder(), 'newsletter')
  const all = {
    'app.json': '{ "name": "Newsletter", "scopes": ["site:read"] }',
    'index.html': '<h1>Hello</h1>',
    ...files,
  }
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}
