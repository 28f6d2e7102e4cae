import type { currentApiVersion } from '../domain/api-version.ts'
import { AppPlatformError } from './app-platform-error.ts'
import { isObject, type Shape } from './answer-shapes.ts'

/** The contract version of this client. The type makes it equal to the server's. */
export const apiVersion: typeof currentApiVersion = '2026-08'

/** The parts of a response that are used, with the body read to its end. */
export type RawAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Whether an endpoint of the contract answered. */
  readonly isContract: boolean
}

/**
 * The platform's answer. This is the only place where an answer gets its type, after its shape was checked.
 * @param secrets the secrets of the request, which no error may repeat
 * @throws AppPlatformError for everything except a success of the platform
 */
export const readAnswer = <T>(answer: RawAnswer, shape: Shape<T>, secrets: readonly string[]): T => {
  const { status, headers } = answer
  if (status < 200 || status > 299) throw errorOf({ ...answer, text: without(secrets, answer.text) })
  const value = parsed(answer.text)
  if (shape(value) && isOfPlatform(answer)) return value
  throw unexpected(status, headers)
}

/** Any server may answer with an object; only the platform adds the version of the contract, or elsewhere its request ID. */
const isOfPlatform = ({ headers, isContract }: RawAnswer): boolean =>
  isContract
    ? headers.get('x-service-api-version') === apiVersion
    : headers.get('x-request-id')?.startsWith('req_') === true

/** More than a page of a hundred versions with the longest manifests and notes. */
const longestAnswerBytes = 64 * 1024 * 1024

/**
 * The body of an answer, read to its end.
 * @throws AppPlatformError for one that is too long; what reading throws
 */
export const readText = async ({ status, headers, body }: Response): Promise<string> => {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const reader = body.getReader() // not every browser can iterate over a stream
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    bytes += read.value.length
    if (bytes > longestAnswerBytes) {
      await reader.cancel()
      throw unexpected(status, headers)
    }
    text += decoder.decode(read.value, { stream: true })
  }
  return text + decoder.decode()
}

const unexpected = (status: number, headers: Headers): AppPlatformError =>
  new AppPlatformError('unexpected_answer', 'The answer is not that of an app platform.', {
    status,
    requestId: headers.get('x-request-id'),
  })

const errorOf = ({ status, headers, text }: RawAnswer): AppPlatformError => {
  const requestId = headers.get('x-request-id')
  const retryAfter = secondsOf(headers.get('retry-after'))
  const body = parsed(text)
  const error = isObject(body) ? body['error'] : null
  // The wire format of RFC 6749 section 5.2.
  if (isObject(body) && typeof error === 'string' && headers.has('x-request-id')) {
    const description = body['error_description']
    const message = typeof description === 'string' ? description : 'The platform refused.'
    return new AppPlatformError(error, message, { status, requestId, retryAfter })
  }
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

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
