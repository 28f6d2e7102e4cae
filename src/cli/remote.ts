import { AppPlatformError, createPlatformClient, type PlatformClient, type Repeat } from '../client/index.ts'
import { scopesFor } from '../domain/scope.ts'
import { findLogin, keptServers } from './developer/credential-file.ts'
import type { DeveloperFlags } from './developer/developer-command.ts'
import { type DeveloperCredentials, type DeveloperSettings, readDeveloperSettings } from './developer/settings.ts'
import { CommandFailed, printable, UsageError } from './output.ts'

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

/**
 * A client with a token. The app's registered scopes are not known yet, and any one of them will do, because access to
 * versions comes from the credential and not from scopes (contract section 3).
 * @throws AppPlatformError when the credentials are refused
 */
export const connectToServer = async (
  { url, insecureHttp, credentials: { clientId, clientSecret }, scope }: RemoteTarget,
  { signal, ...repeats }: RemoteOptions,
): Promise<{ readonly client: PlatformClient; readonly scope: string }> => {
  for (const appScope of new Set(scope === null ? scopesFor('app') : [scope, ...scopesFor('app')])) {
    const client = createPlatformClient({
      url,
      clientId,
      clientSecret,
      appScope,
      insecureHttp,
      retry: { repeats: 6, giveUpAfterMs: 150_000 },
      ...repeats,
    })
    try {
      await client.appToken({ signal })
      return { client, scope: appScope }
    } catch (error) {
      if (!(error instanceof AppPlatformError) || error.code !== 'scope_not_allowed') throw error
    }
  }
  throw new CommandFailed([
    `The app has not registered a scope that works without a user. Register one on its page in the console: ${scopesFor('app').join(', ')}.`,
  ])
}

/** What to do about an error at the command line, by its code. */
const steps: ReadonlyMap<string, string> = new Map(
  Object.entries({
    invalid_client:
      'Check the client ID and the secret: run app-platform login again, or correct APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET.',
    invalid_token: 'Run the command again. If that does not help, sign in again with app-platform login.',
    app_inactive: 'Ask the operator of the platform to activate it.',
    development_credentials_required: 'Use credentials of the development environment.',
    invalid_scope: 'Correct the scopes in app.json.',
    scope_not_allowed: "Register the scope on the app's page in the console, or take it out of app.json.",
    scope_not_available: 'Take it out of app.json.',
    version_locked: 'Upload the change under a higher version.',
    version_not_found: 'See app-platform versions list.',
    record_not_found: 'See app-platform webhooks list.',
    version_not_eligible: 'Only a version that was live before can become live again; see app-platform versions list.',
    version_already_current: 'There is nothing to roll back.',
    no_previous_version: 'Name a version with --to; see app-platform versions list.',
    idempotency_in_progress: 'Check app-platform versions list in a moment.',
    payload_too_large: 'Make it smaller, or list what need not be in it in .appignore.',
    api_version_unsupported: 'Use an app-platform program of the same release as the server.',
    api_version_retired: 'Use a newer app-platform program.',
    unreachable: 'Check the URL and the network, and run the command again.',
    timed_out: 'Run the command again.',
    unexpected_answer: 'Check the URL: something else answered there.',
    internal_error: 'Run the command again later. If it keeps failing, tell the operator the request ID.',
    unavailable: 'Run the command again later. If it keeps failing, tell the operator the request ID.',
  }),
)

/** One line: what is wrong, what to do, and the request ID to tell the operator. */
export const remoteSentence = (error: AppPlatformError): string => {
  const { code, message, param, details, requestId, retryAfter } = error
  const step = code === 'rate_limited' ? `Run the command again in ${retryAfter ?? 60} seconds.` : steps.get(code)
  const field = param === null || message.includes(param) ? '' : ` The field is ${param}.`
  const request = requestId === null ? '' : ` Request ID: ${requestId}`
  return printable(`${message}${field}${statusSentence(details)}${step === undefined ? '' : ` ${step}`}${request}`)
}

/** The state that prevented it, after a space. */
export const statusSentence = (details: AppPlatformError['details'] | undefined): string => {
  const status = details?.['status']
  return typeof status === 'string' ? ` Its status is ${status}.` : ''
}
