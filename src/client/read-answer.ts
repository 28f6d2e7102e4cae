import { AppPlatformError } from './app-platform-error.ts'

/** As much of a response as is looked at, its body read to the end. */
export type RawAnswer = { readonly status: number; readonly headers: Headers; readonly text: string }

/**
 * What the platform answered. The one place where an answer gets its type: the caller names the one that the contract
 * gives this call.
 * @param secrets what was sent and must not come back in an error, whoever answered
 * @throws AppPlatformError for everything but a success of the platform
 */
export const readAnswer = <T>(answer: RawAnswer, secrets: readonly string[]): T => {
  const { status, headers } = answer
  if (status < 200 || status > 299) throw errorOf({ ...answer, text: without(secrets, answer.text) })
  const value = parsed<T>(answer.text)
  if (isObject(value)) return value
  const requestId = headers.get('x-request-id')
  throw new AppPlatformError('unexpected_answer', 'The answer is not that of an app platform.', { status, requestId })
}

const errorOf = ({ status, headers, text }: RawAnswer): AppPlatformError => {
  const requestId = headers.get('x-request-id')
  const retryAfter = secondsOf(headers.get('retry-after'))
  const body = parsed<unknown>(text)
  const error = isObject(body) ? body['error'] : null
  if (!isObject(error) || typeof error['code'] !== 'string' || typeof error['message'] !== 'string') {
    const message = `The answer, with status ${status}, is not that of an app platform.`
    return new AppPlatformError('unexpected_answer', message, { status, requestId, retryAfter })
  }
  const { code, message, param, details } = error
  return new AppPlatformError(code, message, {
    status,
    requestId,
    retryAfter,
    param: typeof param === 'string' ? param : null,
    details: isObject(details) ? details : null,
  })
}

/** Whole seconds, or a date (RFC 9110 section 10.2.3); null for anything else. */
const secondsOf = (header: string | null): number | null => {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}

const without = (secrets: readonly string[], text: string): string => {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, '[secret]')
  return clean
}

const parsed = <T>(text: string): T | null => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

type JsonObject = Readonly<Record<string, unknown>>
const isObject = <T>(value: T): value is T & JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
