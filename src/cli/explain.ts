import type { CommanderError } from 'commander'
import { DatabaseUnusable } from '../../db/database.ts'
import { faultSentence } from '../../db/faults/system.ts'
import { AppPlatformError } from '../client/app-platform-error.ts'
import { ConfigError, programEnvironment } from '../config.ts'
import { PlatformError } from '../domain/errors.ts'
import { MetricsPortUnusable } from '../http/server.ts'
import { hasCode } from '../domain/error-code.ts'
import { describeCause, isOfCertificate } from '../runtime/cause.ts'
import { PasswordsUnusable } from '../runtime/passwords.ts'
import { OutcomeUnknown } from './developer/developer-command.ts'
import { CommandFailed, printable, UsageError } from './output.ts'

type Explanation = {
  readonly exitCode: 1 | 2
  readonly sentences: readonly string[]
  /** A word for programs: the code that the platform refused with, or one of the command line's own. */
  readonly code: string
  /** Of the server that refused. */
  readonly requestId: string | null
}

/** An error as sentences for the person at the terminal: never a stack, never SQL with its values. */
export const explain = (error: unknown): Explanation => {
  const local = { requestId: null }
  if (error instanceof ConfigError)
    return { ...local, exitCode: 2, code: 'invalid_settings', sentences: error.faults.map(oneLine) }
  if (error instanceof UsageError)
    return { ...local, exitCode: 2, code: usageCode, sentences: [oneLine(error.message)] }
  if (error instanceof CommandFailed)
    return { ...local, exitCode: 1, code: failedCode, sentences: error.sentences.map(oneLine) }
  if (error instanceof OutcomeUnknown) {
    const { message, code, requestId } = error.cause
    return { exitCode: 1, code, requestId, sentences: [oneLine(`${message} ${error.message}`)] }
  }
  const sentences = [oneLine(sentenceOf(error))]
  if (error instanceof AppPlatformError) return { exitCode: 1, code: error.code, requestId: error.requestId, sentences }
  const code =
    error instanceof PlatformError ? error.code : error instanceof DatabaseUnusable ? 'database_unusable' : failedCode
  return { ...local, exitCode: 1, code, sentences }
}

/** The command line is wrong, and any other failure of a command. */
const usageCode = 'usage'
const failedCode = 'command_failed'

/** What the parser of the command line refused. The help of a group that was called without a command is no message. */
export const usageFault = ({ code, message }: CommanderError) => ({
  exitCode: 2 as const,
  code: usageCode,
  requestId: null,
  sentences: [
    code === 'commander.help'
      ? 'Name a command. Add --help to see all.'
      : withoutValues(message)
          .trim()
          .replace(/^error: /, ''),
  ],
})

/** An extra argument or the value of an unknown flag may be a secret, so the message does not repeat it. */
export const withoutValues = (text: string): string =>
  text
    .replace(/^(error: unknown option '-[^=']*)=[^]*'/, "$1'")
    .replace(/^(error: too many arguments [^]* but got \d+): [^]*$/, '$1.\n')

/** Looked for in the words, because a command line that cannot be parsed has no flags. */
export const asksForJson = (words: readonly string[]): boolean => {
  const end = words.indexOf('--')
  return words.slice(0, end === -1 ? words.length : end).includes('--json')
}

const sentenceOf = (error: unknown): string => {
  if (error instanceof PlatformError) return error.message + statusSentence(error.facts.details)
  if (error instanceof AppPlatformError) return remoteSentence(error)
  if (error instanceof DatabaseUnusable || error instanceof PasswordsUnusable) return error.message
  if (error instanceof MetricsPortUnusable) return `${error.message} ${sentenceOf(error.cause)}`
  const cause = innermost(error)
  const fault = faultSentence(cause)
  if (fault !== null) return fault
  const { name, code, message } = describeCause(cause)
  return `The command failed: ${[name, code, message].filter((part) => part !== undefined).join(': ')}.`
}

/** A wrapping error repeats values of the query; its cause does not. */
const innermost = (error: unknown): unknown => {
  let cause = error
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause
  return cause
}

/** The text contains file names and words of a server, which others chose. */
const oneLine = (text: string): string => printable(text.replaceAll(/\s*[\r\n]+\s*/g, ' '))

/** What to do about an error at the command line, by its code. */
const steps: ReadonlyMap<string, string> = new Map(
  Object.entries({
    invalid_client:
      'Check the client ID and the secret: run app-platform login again, or correct APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET.',
    invalid_token:
      'Run the command again. If that does not help, sign in again with app-platform login, or check APP_PLATFORM_SERVICE_KEY and the end and networks of that key.',
    app_inactive: 'Ask the operator of the platform to activate it, or to restore it.',
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
    timed_out: 'Run the command again.',
    unexpected_answer: 'Check the URL: something else answered there.',
    internal_error: 'Run the command again later. If it keeps failing, tell the operator the request ID.',
    unavailable: 'Run the command again later. If it keeps failing, tell the operator the request ID.',
  }),
)

/** What to do when the server cannot be reached, by what the system says about it. */
const stepToReach = (cause: unknown): string => {
  if (isOfCertificate(cause)) {
    return `Its certificate is not trusted here (${describeCause(cause).code}): tell the operator, or name the file of its issuer in NODE_EXTRA_CA_CERTS.`
  }
  if (hasCode(cause, 'ENOTFOUND')) return 'Its name is unknown: check the URL and the network.'
  if (hasCode(cause, 'ECONNREFUSED')) return 'Nothing listens there: check the URL and its port, and that it runs.'
  if (hasCode(cause, 'EPROTO')) return 'It does not speak HTTPS there: check the URL and its port.'
  return 'Check the URL and the network, and run the command again.'
}

/** A fault of the proxy looks like one of the server behind it. */
const proxySentence = (): string => {
  const environment = programEnvironment()
  const name = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find(
    (each) => (environment[each] ?? '') !== '',
  )
  return name === undefined ? '' : ` The call may go through the proxy in ${name}: check that too.`
}

/** One line: what is wrong, what to do, and the request ID to tell the operator. */
const remoteSentence = (error: AppPlatformError): string => {
  const { code, message, param, details, requestId, retryAfter } = error
  const step =
    code === 'rate_limited'
      ? `Run the command again in ${retryAfter ?? 60} seconds.`
      : code === 'unreachable'
        ? stepToReach(error.cause)
        : steps.get(code)
  const field = param === null || message.includes(param) ? '' : ` The field is ${param}.`
  const request = requestId === null ? '' : ` Request ID: ${requestId}`
  const proxy = ['unreachable', 'timed_out', 'unexpected_answer'].includes(code) ? proxySentence() : ''
  return printable(
    `${message}${field}${statusSentence(details)}${step === undefined ? '' : ` ${step}`}${proxy}${request}`,
  )
}

/** The state that prevented it, after a space. */
const statusSentence = (details: AppPlatformError['details'] | undefined): string => {
  const status = details?.['status']
  return typeof status === 'string' ? ` Its status is ${status}.` : ''
}
