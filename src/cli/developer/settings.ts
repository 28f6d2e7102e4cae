import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { isLoopback } from '../../client/transport.ts'
import { ConfigError, programEnvironment } from '../../config.ts'
import type { EnvironmentVariables } from '../../config/setting.ts'
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
  const { [idName]: clientId, [secretName]: clientSecret } = env
  if (clientId === undefined && clientSecret === undefined) return null
  for (const name of [idName, secretName]) {
    const text = env[name]
    if (text === undefined) faults.push(`${name} is missing, although the other of the two is set.`)
    // A pipeline sets an empty variable for a secret that it does not have.
    else if (text.trim() === '') faults.push(`${name} is empty.`)
  }
  return clientId === undefined || clientSecret === undefined
    ? null
    : { clientId: clientId.trim(), clientSecret: clientSecret.trim() }
}

/** The origin of a server; null if there is none. Faults are added to the list. */
export const readOrigin = (
  name: string,
  text: string | undefined,
  insecureHttp: boolean,
  faults: string[],
): string | null => {
  if (text === undefined) return null
  const url = URL.parse(text)
  if (url === null || !/^https?:\/\/[^/?#@\\\s]+\/?$/i.test(text)) {
    faults.push(`${name} must be an origin such as https://apps.example.com: no path, query, fragment or user.`)
    return null
  }
  if (url.protocol === 'http:' && !insecureHttp && !isLoopback(url.hostname)) {
    faults.push(
      `${name} is plain HTTP to another machine, which would show the secret on the way. Use https, or --insecure-http.`,
    )
  }
  return url.origin
}

/** Relative paths are ignored (XDG Base Directory Specification). */
const configHome = (env: EnvironmentVariables): string => {
  const home = env['XDG_CONFIG_HOME'] ?? ''
  return isAbsolute(home) ? home : join(homedir(), '.config')
}
