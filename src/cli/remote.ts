import { AppPlatformError, createPlatformClient, type PlatformClient, type Repeat } from '../client/index.ts'
import { findLogin, keptServers } from './developer/credential-file.ts'
import type { DeveloperFlags } from './developer/developer-command.ts'
import { type DeveloperCredentials, type DeveloperSettings, readDeveloperSettings } from './developer/settings.ts'
import { CommandFailed, UsageError } from './output.ts'

type RemoteOptions = { readonly signal: AbortSignal; readonly onRepeat?: (repeat: Repeat) => void }

/** A server and the credentials of the developer's app. */
type RemoteTarget = {
  readonly url: string
  readonly insecureHttp: boolean
  readonly credentials: DeveloperCredentials
  /** A scope with which the app has got a token before. */
  readonly scope: string | null
}

/** @throws ConfigError, UsageError or CommandFailed if the server or the credentials cannot be determined */
export const findRemote = (flags: DeveloperFlags): RemoteTarget & { readonly source: 'environment' | 'login' } => {
  const settings = readDeveloperSettings(flags)
  const { insecureHttp, credentials, folder } = settings
  const url = serverOf(settings)
  if (credentials !== null) return { url, insecureHttp, credentials, scope: null, source: 'environment' }
  const login = findLogin(folder, url)
  if (login !== null) return { url, insecureHttp, credentials: login, scope: login.scope, source: 'login' }
  throw new CommandFailed([
    `You are not signed in to ${url}. Run app-platform login --url ${url}, or set APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET.`,
  ])
}

/**
 * A client of the server that has a token for the credentials, and where these came from.
 * @throws what `findRemote` throws; AppPlatformError when the credentials are refused
 */
export const openRemote = async (flags: DeveloperFlags, options: RemoteOptions) => {
  const { source, ...target } = findRemote(flags)
  const { client } = await connectToServer(target, options)
  return { client, url: target.url, source }
}

/**
 * The server that was named, or the only one that has a saved login.
 * @throws UsageError if neither says which
 */
export const serverOf = ({ url, folder }: DeveloperSettings): string => {
  if (url !== null) return url
  const [only, ...others] = keptServers(folder)
  if (only === undefined) throw new UsageError('Which server? Name it with --url or APP_PLATFORM_URL.')
  if (others.length === 0) return only
  throw new UsageError(
    `You are signed in to ${[only, ...others].join(', ')}. Choose one with --url or APP_PLATFORM_URL.`,
  )
}

/** What most apps have. */
const usualScope = 'site:read'

/**
 * A client with a token. The app's registered scopes are not known yet, and any one of them will do, because access to
 * versions comes from the credential and not from scopes (contract section 3).
 * @throws AppPlatformError when the credentials are refused
 */
export const connectToServer = async (
  { url, insecureHttp, credentials, scope }: RemoteTarget,
  { signal, ...repeats }: RemoteOptions,
): Promise<{ readonly client: PlatformClient; readonly scope: string }> => {
  const clientWith = async (appScope: string) => {
    const retry = { repeats: 6, giveUpAfterMs: 150_000 }
    const client = createPlatformClient({ url, ...credentials, appScope, insecureHttp, retry, ...repeats })
    await client.appToken({ signal })
    return { client, scope: appScope }
  }
  try {
    return await clientWith(scope ?? usualScope)
  } catch (error) {
    if (!isRefused(error, 'scope_not_allowed')) throw error
    return await clientWith(await registeredScope({ url, insecureHttp, credentials }, signal))
  }
}

/** @throws CommandFailed if the app has none for itself */
const registeredScope = async (
  { credentials: { clientId, clientSecret }, ...server }: Pick<RemoteTarget, 'url' | 'insecureHttp' | 'credentials'>,
  signal: AbortSignal,
): Promise<string> => {
  const { endpoints } = createPlatformClient({ ...server, clientId, clientSecret })
  try {
    return (await endpoints.findAppScope({ client_id: clientId, client_secret: clientSecret }, { signal })).scope
  } catch (error) {
    if (!isRefused(error, 'invalid_scope')) throw error
    throw new CommandFailed([
      `The app has no scope that works without a user. Register one on its page in the console, such as ${usualScope}.`,
    ])
  }
}

const isRefused = (error: unknown, code: string): boolean => error instanceof AppPlatformError && error.code === code
