import type { AppPlatformError } from '../../client/index.ts'
import { printable } from '../output.ts'

/** What to do about an error, by its code, for somebody at a command line. */
const steps: ReadonlyMap<string, string> = new Map(
  Object.entries({
    invalid_client:
      'Check the client ID and the secret: run app-platform login again, or mend APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET.',
    invalid_token: 'Run the command again; if that does not help, log in again.',
    app_inactive: 'Ask the operator of the platform to activate it.',
    development_credentials_required: 'Use credentials of the development environment.',
    invalid_scope: 'Mend the scopes in app.json.',
    scope_not_allowed: "Register the scope on the app's page in the console, or take it out of app.json.",
    scope_not_available: 'Take it out of app.json.',
    version_locked: 'Upload the change under a higher version.',
    version_not_found: 'See app-platform versions list.',
    version_not_eligible: 'Only a version that was live before can become live again; see app-platform versions list.',
    version_already_current: 'There is nothing to roll back.',
    no_previous_version: 'Name a version with --to; see app-platform versions list.',
    idempotency_in_progress: 'Look at app-platform versions list in a moment.',
    payload_too_large: 'Make it smaller, or list what need not be in it in .appignore.',
    api_version_unsupported: 'Use the app-platform program of the same age as the server.',
    api_version_retired: 'Use a newer app-platform program.',
    unreachable: 'Check the URL and the network, and run the command again.',
    timed_out: 'Run the command again.',
    unexpected_answer: 'Check the URL: something else answered there.',
    internal_error: 'Run the command again later; if it goes on, tell the operator the request ID.',
    unavailable: 'Run the command again later; if it goes on, tell the operator the request ID.',
  }),
)

/** One line: what is wrong, what to do, and the request ID to tell the operator. */
export const remoteSentence = (error: AppPlatformError): string => {
  const { code, message, param, requestId, retryAfter } = error
  const step = code === 'rate_limited' ? `Run the command again in ${retryAfter ?? 60} seconds.` : steps.get(code)
  const field = param === null || message.includes(param) ? '' : ` The field is ${param}.`
  const request = requestId === null ? '' : ` Request ID: ${requestId}`
  return printable(`${message}${field}${statusIn(error)}${step === undefined ? '' : ` ${step}`}${request}`)
}

/** Which state stood in the way. */
const statusIn = ({ details }: AppPlatformError): string => {
  const status = details?.['status']
  return typeof status === 'string' ? ` Its status is ${status}.` : ''
}
