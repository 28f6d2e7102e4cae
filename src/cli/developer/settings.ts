import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { isLoopback } from '../../client/transport.ts'
import { ConfigError, programEnvironment } from '../../config.ts'
import { Broken, type EnvironmentVariables, oneValue, originOf } from '../../config/setting.ts'
import type { DeveloperFlags } from './developer-command.ts'

export type DeveloperCredentials = { readonly clientId: string; readonly clientSecret: string }

export type DeveloperSettings = ReturnType<typeof readDeveloperSettings>

const idName = 'APP_PLATFORM_CLIENT_ID'
const secretName = 'APP_PLATFORM_CLIENT_SECRET'

/**
 * What flags and environment say to a developer command, where a flag wins; null for what they do not say.
 * @throws ConfigError with all faults at once, none of which repeats a value
 */
export const readDeveloperSettings = (
  { url, insecureHttp = false }: DeveloperFlags,
  env: EnvironmentVariables = programEnvironment(),
) => {
  const faults: string[] = []
  const credentials = readCredentials(env, faults)
  const origin =
    url === undefined
      ? readOrigin('APP_PLATFORM_URL', env['APP_PLATFORM_URL'], insecureHttp, faults)
      : readOrigin('--url', url, insecureHttp, faults)
  if (credentials !== null && origin === null && faults.length === 0) {
    faults.push(`${idName} is set, but no server: name one with --url or APP_PLATFORM_URL.`)
  }
  if (faults.length > 0) throw new ConfigError(faults)
  /** Of the credential files. */
  const folder = join(configHome(env), 'app-platform')
  return { url: origin, insecureHttp, credentials, folder }
}

const readCredentials = (env: EnvironmentVariables, faults: string[]): DeveloperCredentials | null => {
  if (env[idName] === undefined && env[secretName] === undefined) return null
  const [clientId = '', clientSecret = ''] = [idName, secretName].map((name) => {
    const text = env[name]
    const value =
      text === undefined
        ? new Broken('is missing, although the other of the two is set.')
        : oneValue(text.trim(), 'is empty.') // a secret store often adds a line end
    if (!(value instanceof Broken)) return value
    faults.push(`${name} ${value.rule}`)
    return undefined
  })
  return { clientId, clientSecret }
}

/** The origin of a server; null if there is none. Faults are added to the list. */
export const readOrigin = (
  name: string,
  text: string | undefined,
  insecureHttp: boolean,
  faults: string[],
): string | null => {
  if (text === undefined) return null
  const typed = oneValue(text.trim(), 'is empty.')
  const origin = typed instanceof Broken ? typed : originOf(typed)
  if (origin instanceof Broken) {
    faults.push(`${name} ${origin.rule}`)
    return null
  }
  const { protocol, hostname } = new URL(origin)
  if (protocol === 'http:' && !insecureHttp && !isLoopback(hostname)) {
    faults.push(
      `${name} is plain HTTP to another machine, which would show the secret on the way. Use https, or --insecure-http.`,
    )
  }
  return origin
}

/** Relative paths are ignored (XDG Base Directory Specification). */
const configHome = (env: EnvironmentVariables): string => {
  const home = env['XDG_CONFIG_HOME'] ?? ''
  return isAbsolute(home) ? home : join(homedir(), '.config')
}
