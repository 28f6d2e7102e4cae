import { secretPrefixPattern } from '../domain/secret.ts'
import type { LogWriter } from './log-writer.ts'
import { describeCause } from './cause.ts'

/** The name of an event, two or three words with dots. */
type LogEvent = `${string}.${string}`

/** The request of an answer. Every field except `clientRequestId` is made or checked by the server. */
type AnsweredRequest = Required<Pick<LogFields, 'requestId' | 'clientRequestId' | 'address' | 'route'>> & {
  readonly notes: Pick<LogFields, 'appId' | 'clientId' | 'userId' | 'grantId' | 'errorCode'>
}

export type Log = {
  /** Writes the line of an answer, `http.answered`. */
  answered(method: string, status: number, durationMs: number, request: AnsweredRequest): void
  info(event: LogEvent, fields?: LogFields): void
  warn(event: LogEvent, fields?: LogFields): void
  error(event: LogEvent, fields?: LogFields): void
  flush(): void
}

type Level = 'info' | 'warn' | 'error'

/** What is logged. `debug` equals `info`, since there are no debug lines yet. */
export type LogOptions = {
  readonly level: 'debug' | Level
  /** The requests that are logged; `errors` are those answered with 4xx or 5xx. */
  readonly requests: 'all' | 'errors' | 'none'
}
const everything: LogOptions = { level: 'info', requests: 'all' }
const rank = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<LogOptions['level'], number>

/** A value as JSON, or null when the field does not allow it. */
type Rule = (value: unknown) => string | null

const matching =
  (pattern: RegExp): Rule =>
  (value) =>
    typeof value === 'string' && pattern.test(value) && !secretPrefixPattern.test(value) ? `"${value}"` : null

/** For patterns that no text with a secret in it can match. */
const exactly =
  (pattern: RegExp): Rule =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? `"${value}"` : null

const recordId = exactly(/^[a-z]{3}_[0-9a-f]{32}$/)
const word = matching(/^[A-Za-z0-9_.:/*-]{1,100}$/)
const figure: Rule = (value) => (typeof value === 'number' && Number.isFinite(value) ? String(value) : null)

const withheld = '"[withheld]"'

/** JSON in ASCII, so that a line has as many bytes as characters. */
const json = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const text: Rule = (value) => {
  if (typeof value !== 'string') return null
  return secretPrefixPattern.test(value) ? withheld : json(value.slice(0, 500))
}

/** The fields of a log line that hold text: IDs and words, never values. */
const texts = {
  requestId: recordId,
  clientRequestId: text,
  address: matching(/^[0-9a-f.:]{2,45}$|^unknown$/),
  route: word,
  errorCode: matching(/^[a-z_]{1,50}$/),
  appId: recordId,
  clientId: exactly(/^apc_(?:dev|live)_[0-9A-Za-z]{22}$/),
  credentialId: recordId,
  userId: recordId,
  grantId: recordId,
  versionId: recordId,
  installId: recordId,
  kind: matching(/^[a-z_]{1,40}$/),
  job: word,
  /** A fixed sentence of ours. */
  reason: text,
  /** Of an identity provider: its error and what it says about it, which endpoint gave it, and an issuer that is not the one expected. */
  providerError: text,
  description: text,
  endpoint: text,
  expected: text,
  received: text,
} as const
const figures = { durationMs: figure, count: figure, seconds: figure, port: figure } as const
const rules = { ...texts, ...figures, cause: (value: unknown) => json(describeCause(value)) } as const

/** All fields of a log line. A field that is not here cannot be logged. */
export type LogFields = { readonly [Name in keyof typeof texts]?: string | null } & {
  readonly [Name in keyof typeof figures]?: number
} & {
  /** What was thrown. Its message is not logged unchanged, since it may quote a value. */
  readonly cause?: unknown
}

const isField = (name: string): name is keyof LogFields => Object.hasOwn(rules, name)

const createStamp = (wall: () => number) => {
  let lastMs = Number.NaN
  let stamp = ''
  return (): string => {
    const now = wall()
    if (now === lastMs) return stamp
    lastMs = now
    stamp = new Date(now).toISOString()
    return stamp
  }
}

const render = (fields: LogFields): string => {
  let line = ''
  for (const name in fields) {
    if (!isField(name)) continue
    const value = fields[name]
    if (value === undefined || value === null) continue
    line += `,"${name}":${rules[name](value) ?? withheld}`
  }
  return line
}

/**
 * JSON lines in ASCII. A field with an unexpected value is logged as `[withheld]`, so that a mistake is visible and nothing
 * leaks.
 */
export const createLog = (
  writer: LogWriter,
  wall: () => number = Date.now,
  { level: lowest, requests }: LogOptions = everything,
): Log => {
  const stamp = createStamp(wall)
  const isLogged = (level: Level): boolean => rank[level] >= rank[lowest]
  /** The lowest status that is logged. Answers with 5xx are errors, all others information. */
  const firstLogged = requests === 'none' ? Infinity : !isLogged('info') ? 500 : requests === 'errors' ? 400 : 0
  const write = (level: Level, event: LogEvent, fields: LogFields) =>
    isLogged(level) && writer.write(`{"at":"${stamp()}","level":"${level}","event":"${event}"${render(fields)}}\n`)
  return {
    // One template, because every request writes this line; the fields that the server made need no rule.
    // A server that is not ready has said why by `condition.began`, or it ends as planned.
    answered: (method, status, durationMs, { requestId, clientRequestId, address, route, notes }) =>
      status >= firstLogged &&
      writer.write(
        `{"at":"${stamp()}","level":"${status < 500 || route === '/readyz' ? 'info' : 'error'}","event":"http.answered","requestId":"${requestId}"${
          clientRequestId === null ? '' : `,"clientRequestId":${text(clientRequestId) ?? withheld}`
        },"method":"${method}","route":"${route}","status":${status},"durationUs":${Math.round(durationMs * 1000)},"address":"${address}"${render(notes)}}\n`,
      ),
    info: (event, fields = {}) => write('info', event, fields),
    warn: (event, fields = {}) => write('warn', event, fields),
    error: (event, fields = {}) => write('error', event, fields),
    flush: () => writer.flush(),
  }
}
