import { Type } from '@sinclair/typebox'
import { type ErrorCode, messageOf, statusOf } from '../../domain/errors.ts'

/** Codes of every endpoint, and further codes of every endpoint of the contract (contract section 1). */
const everywhere = ['invalid_request', 'rate_limited', 'internal_error', 'unavailable'] as const
const contractWide = ['api_version_missing', 'api_version_unsupported', 'api_version_retired'] as const

const errorBody = (codes: readonly ErrorCode[]) =>
  Type.Object(
    {
      error: Type.Object(
        {
          code: Type.String({ enum: codes, description: 'What went wrong, for programs.', examples: [codes[0]] }),
          message: Type.String({
            description: 'What went wrong, for people. Never repeats a value of the request.',
            examples: codes.slice(0, 1).map(messageOf),
          }),
          requestId: Type.String({
            description: 'ID of this request; also in the X-Request-Id header.',
            examples: ['req_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d'],
          }),
          param: Type.Optional(Type.String({ description: 'The field at fault.', examples: ['scope'] })),
          details: Type.Optional(
            Type.Record(Type.String(), Type.Unknown(), {
              description: 'Facts for programs; which ones depends on the code.',
              examples: [{ allowed: ['site', 'store'] }],
            }),
          ),
        },
        { description: 'The error.' },
      ),
    },
    { description: codes.map((code) => `\`${code}\`: ${messageOf(code)}`).join(' ') },
  )

/**
 * One schema per status for the error codes of an endpoint, including those of every endpoint. The type is a plain `object`,
 * because handlers throw errors and never return one.
 */
export const errorResponses = (codes: readonly ErrorCode[], isContract: boolean): object => {
  const all = new Set<ErrorCode>([...codes, ...(isContract ? contractWide : []), ...everywhere])
  const byStatus = Map.groupBy(all, statusOf)
  return Object.fromEntries([...byStatus].map(([status, ofStatus]) => [status, errorBody(ofStatus)]))
}
