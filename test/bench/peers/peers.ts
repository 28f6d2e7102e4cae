import { existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { verifier } from '../../support/world.ts'
import { startServing } from '../processes.ts'
import type { Contender, Material, Prepared } from './contender.ts'

/** What durability is asked of the peers; FULL is the platform's. */
export type Synchronous = 'FULL' | 'NORMAL' | 'OFF'

const here = import.meta.dir
const installed = (path: string): string => join(here, 'node_modules', path)

/** The Node that oidc-provider is run by: a release that it supports, of the same lockfile. */
const node = installed(`node-linux-${process.arch}/bin/node`)

export const isInstalled = (): boolean => [node, installed('better-auth')].every((path) => existsSync(path))

export const nodeVersion = (): string => Bun.spawnSync([node, '--version']).stdout.toString().trim().slice(1)

export const versionOf = async (name: string): Promise<string> =>
  (await Bun.file(installed(`${name}/package.json`)).json()).version

type Peer = Omit<Contender, 'prepare'> & {
  readonly runtime: string
  /** `FILE-serve.mjs` serves, `FILE-fill.mjs` prepares tokens and codes. */
  readonly file: string
  readonly databaseFile: string
}

const contender = ({ runtime, file, databaseFile, ...rest }: Peer, synchronous: Synchronous): Contender => ({
  ...rest,
  prepare: async (folder, live) => {
    const log = join(folder, `${file}.log`)
    const env = { NODE_ENV: 'production' }
    const filled = async (what: 'tokens' | 'codes', count: number) => {
      const command = [runtime, join(here, `${file}-fill.mjs`), folder, what, String(count), verifier]
      const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'pipe', stderr: openSync(log, 'a', 0o600) })
      const text = await new Response(child.stdout).text()
      if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${await Bun.file(log).text()}`)
      return JSON.parse(text)
    }
    const material: Material = await filled('tokens', live)
    return {
      material,
      databaseFile: join(folder, databaseFile),
      codes: async (count) => (await filled('codes', count)).codes,
      start: async () =>
        await startServing({ command: [runtime, join(here, `${file}-serve.mjs`), folder, synchronous], log, env }),
      close: async () => {},
    } satisfies Prepared
  },
})

export const oidcProvider = (synchronous: Synchronous): Contender =>
  contender(
    {
      name: 'oidc-provider',
      paths: { token: '/token', introspect: '/token/introspection', who: '/me' },
      codesPerSecond: 5_000,
      keepsTokensAs: 'plain text',
      runtime: node,
      file: 'oidc',
      databaseFile: 'oidc.db',
    },
    synchronous,
  )

export const betterAuth = (synchronous: Synchronous): Contender =>
  contender(
    {
      name: 'better-auth',
      paths: {
        token: '/api/auth/oauth2/token',
        introspect: '/api/auth/oauth2/introspect',
        who: '/api/auth/oauth2/userinfo',
      },
      codesPerSecond: 3_000,
      keepsTokensAs: 'SHA-256',
      runtime: process.execPath,
      file: 'better-auth',
      databaseFile: 'better-auth.db',
    },
    synchronous,
  )
