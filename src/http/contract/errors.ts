import { Type } from '@sinclair/typebox'
import { type ErrorCode, messageOf, statusOf } from '../../domain/errors.ts'
import { object, recordId, text } from './fields.ts'

/** Codes of every endpoint, and further codes of every endpoint of the contract (contract section 1). */
const everywhere = ['invalid_request', 'rate_limited', 'internal_error', 'unavailable'] as const
const contractWide = ['api_version_missing', 'api_version_unsupported', 'api_version_retired'] as const

const errorBody = (codes: readonly ErrorCode[]) => {
  const [first = 'internal_error'] = codes // every status has at least one
  return object(codes.map((code) => `\`${code}\`: ${messageOf(code)}`).join(' '), {
    error: object('The error.', {
      code: text('What went wrong, for programs.', first, { enum: codes }),
      message: text('What went wrong, for people. Never repeats a value of the request.', messageOf(first)),
      requestId: recordId('req', 'ID of this request; also in the X-Request-Id header.'),
      param: Type.Optional(text('The field at fault.', 'scope')),
      details: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Facts for programs; which ones depends on the code.',
          examples: [{ allowed: ['site', 'store'] }],
        }),
      ),
    }),
  })
}

/**
 * One schema per status for the error codes of an endpoint, including those of every endpoint. The type is a plain `object`,
 * because handlers throw errors and never return one.
 */
export const errorResponses = (codes: readonly ErrorCode[], isContract: boolean): object => {
  const all = new Set<ErrorCode>([...codes, ...(isContract ? contractWide : []), ...everywhere])
  const byStatus = Map.groupBy(all, statusOf)
  return Object.fromEntries([...byStatus].map(([status, ofStatus]) => [status, errorBody(ofStatus)]))
}
