import { copyFileSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { verifier } from '../../support/world.ts'
import { startServing } from '../../bench/processes.ts'
import type { Contender, Material } from './contender.ts'

/** The durability of the peers; the platform's is FULL. */
export type Synchronous = 'FULL' | 'NORMAL' | 'OFF'

export type Peers = { readonly contenders: readonly Contender[]; readonly nodeVersion: string }

/**
 * Installs the locked dependencies of this folder in a temporary one: here the peers would find our packages and use them as
 * their optional dependencies.
 */
export const installPeers = async (synchronous: Synchronous): Promise<Peers> => {
  const folder = temporaryFolder()
  for (const name of new Bun.Glob('{*.mjs,package.json,bun.lock}').scanSync(import.meta.dir)) {
    copyFileSync(join(import.meta.dir, name), join(folder, name))
  }
  const install = Bun.spawnSync([process.execPath, 'install', '--frozen-lockfile'], { cwd: folder, stderr: 'pipe' })
  if (!install.success) throw new Error(`The peers could not be installed: ${install.stderr.toString()}`)
  const installed = (path: string): string => join(folder, 'node_modules', path)
  // The Node release of the lockfile, which oidc-provider supports, whatever the machine has.
  const node = installed(`node-linux-${process.arch}/bin/node`)
  const titleOf = async (name: string): Promise<string> =>
    `${name} ${(await Bun.file(installed(`${name}/package.json`)).json()).version}`
  const oidc = { ...oidcProvider, name: await titleOf('oidc-provider'), runtime: node }
  const better = { ...betterAuth, name: await titleOf('better-auth'), runtime: process.execPath }
  return {
    contenders: [oidc, better].map((peer) => contender(peer, folder, synchronous)),
    nodeVersion: Bun.spawnSync([node, '--version']).stdout.toString().trim().slice(1),
  }
}

type Peer = Omit<Contender, 'prepare'> & {
  readonly runtime: string
  /** `FILE-serve.mjs` serves, `FILE-fill.mjs` prepares tokens and codes, `FILE.db` keeps them. */
  readonly file: string
}

const oidcProvider: Omit<Peer, 'name' | 'runtime'> = {
  paths: { token: '/token', introspect: '/token/introspection', who: '/me' },
  codesPerSecond: 5_000,
  keepsTokensAs: 'plain text',
  file: 'oidc',
}

const betterAuth: Omit<Peer, 'name' | 'runtime'> = {
  paths: {
    token: '/api/auth/oauth2/token',
    introspect: '/api/auth/oauth2/introspect',
    who: '/api/auth/oauth2/userinfo',
  },
  codesPerSecond: 3_000,
  keepsTokensAs: 'SHA-256',
  file: 'better-auth',
}

const contender = ({ runtime, file, ...rest }: Peer, programs: string, synchronous: Synchronous): Contender => ({
  ...rest,
  prepare: async (folder, live, url) => {
    const log = join(folder, `${file}.log`)
    const env = { NODE_ENV: 'production', ...(url !== null && { DATABASE_URL: url }) }
    const fill = async (what: 'tokens' | 'codes', count: number) => {
      const command = [runtime, join(programs, `${file}-fill.mjs`), folder, what, String(count), verifier]
      const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'pipe', stderr: openSync(log, 'a', 0o600) })
      const text = await new Response(child.stdout).text()
      if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${await Bun.file(log).text()}`)
      return JSON.parse(text)
    }
    const material: Material = await fill('tokens', live)
    return {
      material,
      database: url ?? join(folder, `${file}.db`),
      codes: async (count) => (await fill('codes', count)).codes,
      start: async () =>
        await startServing({ command: [runtime, join(programs, `${file}-serve.mjs`), folder, synchronous], log, env }),
      startExecutable: null,
      close: async () => {},
    }
  },
})
