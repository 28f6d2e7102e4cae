import { isAbsolute, resolve } from 'node:path'
import { defaultDatabasePath, readDeployment } from '../../config.ts'
import { type ConfigFlags, type EnvironmentVariables, fileSetting, secretSettings } from '../../config/setting.ts'
import { UsageError } from '../output.ts'

/** Settings by the names of their environment variables. */
type Settings = readonly (readonly [name: string, value: string])[]

/** The step that makes the file with the secret settings, which only its owner can read. */
export const secretLines = (names: readonly string[]): string =>
  `with ${names.length === 1 ? 'one line' : 'these lines'} in it: ${names.map((name) => `${name}='…'`).join(' and ')}`

/** How the program runs on a machine, as far as proxies and service managers need to know. */
export type Deployment = ReturnType<typeof deploymentOf>

const installed = '/usr/local/bin/app-platform'
export const stateFolder = '/var/lib'
/** Where a service keeps its database unless it is told otherwise. */
export const serviceDatabase = `${stateFolder}/app-platform/app-platform.db`

/**
 * What the current settings mean for a service. Without DATABASE_URL, the database is in the folder for services' state.
 * Only the `needed` settings must be right. @throws ConfigError; UsageError for port 0, since a proxy needs a fixed port
 */
export const deploymentOf = (
  flags: ConfigFlags,
  env: EnvironmentVariables,
  { executable, needed }: { readonly executable: string | null; readonly needed: readonly string[] },
) => {
  const { config, given, doubts } = readDeployment(flags, env, needed)
  // A flag says where the database is, whatever file the environment names.
  const used = given.filter(([name]) => flags.database === undefined || name !== fileSetting('DATABASE_URL'))
  if (config.port === 0) throw new UsageError('PORT is 0, which chooses another port at each start: set a fixed one.')
  const { database } = config
  const file = database.kind === 'sqlite' ? fileOf(database.path) : null
  const authority = database.kind === 'postgres' ? authorityIn(database.url) : null
  const isInPlace = executable !== null && /^\/(usr|opt)\//.test(executable)
  return {
    program: isInPlace ? executable : installed,
    /** Where the running program is, if that is not `program`: it has to be copied there. */
    installFrom: isInPlace ? null : (executable ?? 'dist/app-platform'),
    /** The database file; null for PostgreSQL. */
    file,
    places: placesOf(authority, used),
    port: config.port,
    /** Where a proxy on the same machine reaches it. */
    upstream: reachable(config),
    publicUrl: config.publicUrl === null ? null : new URL(config.publicUrl),
    trustsProxies: config.trustedProxies.length > 0,
    /** The settings that the service needs, without the secret ones. */
    settings: settingsOf(config, file, used),
    /** The names of the secret settings that it needs besides. */
    secrets: secretSettings.filter((name) =>
      name === 'DATABASE_URL'
        ? file === null && !isUsed(used, fileSetting(name))
        : isUsed(used, name) || isMissing(used, name),
    ),
    /** Where the metrics are served; null: where the API is. */
    metricsListen: config.metricsListen,
    /** What `serve` would refuse or warn about with these settings. */
    doubts,
  }
}

/**
 * A place on this machine, besides the database, that the server needs because a setting names it: a file that it reads, or a folder
 * that it writes to. Whatever runs the server must let it in there.
 */
export type NeededPlace = { readonly setting: string; readonly path: string; readonly use: 'reads' | 'writes' }

/** `authority` is the file that DATABASE_URL names. @throws UsageError for a file that only a program in this folder would find */
const placesOf = (authority: string | null, used: Settings): readonly NeededPlace[] => [
  ...used.flatMap(([setting, path]): readonly NeededPlace[] => {
    if (setting === 'BACKUP_DIRECTORY') return path === 'none' ? [] : [{ setting, path: resolve(path), use: 'writes' }]
    if (!secretSettings.some((name) => fileSetting(name) === setting)) return []
    // The value is not repeated: it may be the secret itself.
    if (!isAbsolute(path))
      throw new UsageError(`${setting} must be the absolute path of a file: a service has another folder.`)
    return [{ setting, path, use: 'reads' }]
  }),
  ...(authority === null ? [] : [{ setting: 'DATABASE_URL', path: authority, use: 'reads' } as const]),
]

/** Whoever writes to a folder gets it for itself, and such a folder is not its own. @throws UsageError */
export const refuseShared = (folder: string, what: string, example: string): void => {
  if (!/^\/(?:[^/]*|usr\/[^/]*|var\/[^/]*)$/.test(folder)) return
  throw new UsageError(`${folder} is for all programs: choose a folder of its own for ${what}, such as ${example}.`)
}

const authorityIn = (url: string): string | null => {
  const named = URL.parse(url)?.searchParams.get('sslrootcert') ?? null
  return named === null || named === 'system' ? null : resolve(named)
}

const fileOf = (path: string): string => (path === defaultDatabasePath ? serviceDatabase : resolve(path))

/** How a program on this machine reaches what listens here. */
export const reachable = ({ host, port }: { readonly host: string; readonly port: number }): string => {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** A secret that belongs to another setting and is not here is often in a file that only the service reads. */
const isMissing = (used: Settings, name: string): boolean =>
  isUsed(used, companions[name] ?? '') && !isUsed(used, fileSetting(name))

const companions: Readonly<Record<string, string>> = { OIDC_CLIENT_SECRET: 'OIDC_CLIENT_ID', SMTP_URL: 'MAIL_FROM' }

const isUsed = (used: Settings, name: string): boolean => used.some(([each]) => each === name)

/** What is printed may be read by everybody, so no secret is. Settings that also have a flag may differ from the environment. The others are passed on as they were typed. */
const settingsOf = (
  config: ReturnType<typeof readDeployment>['config'],
  file: string | null,
  used: Settings,
): Settings => [
  ...(file === null
    ? []
    : [['DATABASE_URL', `file:${encodeURI(file).replaceAll(/[?#]/g, encodeURIComponent)}`] as const]),
  ['HOST', config.host],
  ['PORT', String(config.port)],
  ...(config.publicUrl === null ? [] : [['PUBLIC_URL', config.publicUrl] as const]),
  ...used.filter(
    ([name]) =>
      ![
        ...secretSettings,
        ...(file === null ? [] : [fileSetting('DATABASE_URL')]),
        'HOST',
        'PORT',
        'PUBLIC_URL',
      ].includes(name),
  ),
]

/**
 * A template with its holes filled. `{{name}}` is replaced by the text of that name. Where nothing but spaces and number signs stand
 * before it on a line of its own, each line of the text gets them too, and an empty text leaves no line.
 * @throws Error for a hole that has no value
 */
export const fill = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(
    /^([ \t#]*)\{\{(\w+)\}\}\n|\{\{(\w+)\}\}/gm,
    (_, before: string, line?: string, word?: string) => {
      const name = line ?? word ?? ''
      const value = values[name]
      if (value === undefined) throw new Error(`The template has a hole without a value: ${name}.`)
      if (line === undefined) return value
      return value === '' ? '' : value.replaceAll(/^/gm, before) + '\n'
    },
  )
