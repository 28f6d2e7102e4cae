import { Type } from '@sinclair/typebox'
import { errorCodes, type ErrorCode, messageOf, statusOf } from '../../domain/errors.ts'
import { isContractPath } from '../paths.ts'
import { standardErrorsOf } from '../standard-refusal.ts'
import { jsonObject, object, recordId, text } from './fields.ts'

/** Codes of every endpoint, and further codes of every endpoint of the contract (contract section 1). */
const everywhere = ['invalid_request', 'rate_limited', 'internal_error', 'unavailable'] as const
const contractWide = ['api_version_missing', 'api_version_unsupported', 'api_version_retired'] as const

/** The envelope (contract section 1). */
const envelope = {
  error: object('The error.', {
    code: text('What went wrong, for programs.', 'invalid_request', { enum: errorCodes }),
    message: text('What went wrong, for people. Never repeats a value of the request.', messageOf('invalid_request')),
    requestId: recordId('req', 'ID of this request; also in the X-Request-Id header.'),
    param: Type.Optional(text('The field at fault.', 'scope')),
    details: Type.Optional(
      jsonObject('Facts for programs; which ones depends on the code.', { allowed: ['site', 'store'] }),
    ),
  }),
}

/** RFC 6749 section 5.2. */
const standardEnvelope = {
  error: text('What went wrong, for programs.', 'invalid_grant'),
  error_description: text('What went wrong, for people.', messageOf('invalid_grant')),
}

const errorBody = (codes: readonly ErrorCode[]) =>
  Type.Object(envelope, { title: 'Error', description: 'What went wrong.', codes })

const standardErrorBody = (names: ReadonlySet<string>) => {
  return Type.Object(standardEnvelope, { title: 'StandardError', description: 'What went wrong.', codes: [...names] })
}

/**
 * One schema per status for the error codes of an endpoint, including those of every endpoint. The type is a plain `object`,
 * because handlers throw errors and never return one.
 */
export const errorResponses = (codes: readonly ErrorCode[], path: string): object => {
  const all = new Set<ErrorCode>([...codes, ...(isContractPath(path) ? contractWide : []), ...everywhere])
  const errorOf = standardErrorsOf(path)
  const byStatus = Map.groupBy(all, (code) => errorOf?.(code).status ?? statusOf(code))
  const bodyOf = (codes: readonly ErrorCode[]) =>
    errorOf === null ? errorBody(codes) : standardErrorBody(new Set(codes.map((code) => errorOf(code).name)))
  return Object.fromEntries([...byStatus].map(([status, ofStatus]) => [status, bodyOf(ofStatus)]))
}
