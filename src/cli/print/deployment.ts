import { resolve } from 'node:path'
import { type Config, defaultDatabasePath, readConfig } from '../../config.ts'
import type { ConfigFlags, Environment } from '../../config/setting.ts'
import { UsageError } from '../output.ts'

/** Settings by the names that the environment gives them. */
type Settings = readonly (readonly [name: string, value: string])[]

/** How the program is run on a machine, as far as what stands around it has to know. */
export type Deployment = {
  readonly program: string
  /** What was found at the time of printing, where that is not `program`: it has to be put there. */
  readonly installFrom: string | null
  readonly database: string
  readonly port: number
  /** Where a proxy on the same machine finds it. */
  readonly upstream: string
  readonly publicUrl: URL | null
  readonly trustsProxies: boolean
  /** What the service has to be told. */
  readonly settings: Settings
}

const installed = '/usr/local/bin/app-platform'
export const stateFolder = '/var/lib'

/**
 * What the present settings mean for a service. A database nobody has named goes where services keep their state.
 * @throws ConfigError, and UsageError when the port is left to chance: nothing could be told where to look
 */
export const deploymentOf = (flags: ConfigFlags, env: Environment, executable: string | null): Deployment => {
  const { config, used } = readAndNote(flags, env)
  if (config.port === 0) throw new UsageError('PORT is 0, which takes another one at each start: choose a fixed one.')
  const database =
    config.databasePath === defaultDatabasePath
      ? `${stateFolder}/app-platform/app-platform.db`
      : resolve(config.databasePath)
  const isInPlace = executable !== null && /^\/(usr|opt)\//.test(executable)
  return {
    program: isInPlace ? executable : installed,
    installFrom: isInPlace ? null : (executable ?? 'dist/app-platform'),
    database,
    port: config.port,
    upstream: `${reachable(config.host)}:${config.port}`,
    publicUrl: config.publicUrl === null ? null : new URL(config.publicUrl),
    trustsProxies: config.trustedProxies.length > 0,
    settings: settingsOf(config, database, used),
  }
}

const reachable = (host: string): string => {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return address.includes(':') ? `[${address}]` : address
}

/** The settings, and which variables they were looked for in: no list here has to be kept up with them. */
const readAndNote = (flags: ConfigFlags, env: Environment): { readonly config: Config; readonly used: Settings } => {
  const asked = new Set<string>()
  const noting: Environment = new Proxy(env, {
    get: (target, name) => {
      if (typeof name !== 'string') return undefined
      asked.add(name)
      return target[name]
    },
  })
  const config = readConfig(flags, noting)
  const used = [...asked].toSorted().flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value.trim()] as const]
  })
  return { config, used }
}

/** What stands apart here has a flag, and so may differ from the environment. The rest is handed on as it was typed. */
const settingsOf = (config: Config, database: string, used: Settings): Settings => [
  ['DATABASE_URL', `file:${encodeURI(database).replaceAll(/[?#]/g, encodeURIComponent)}`],
  ['HOST', config.host],
  ['PORT', String(config.port)],
  ...(config.publicUrl === null ? [] : [['PUBLIC_URL', config.publicUrl] as const]),
  ...used.filter(([name]) => !['DATABASE_URL', 'HOST', 'PORT', 'PUBLIC_URL'].includes(name)),
]
