import { expect } from 'bun:test'
import { type ErrorCode, statusOf } from '../../../src/domain/errors.ts'
import type { Answer } from '../../support/call.ts'

/** Holds an answer to the one envelope, with this code, its status and, when given, the field at fault. */
export const expectRefusal = (answer: Answer, code: ErrorCode, param?: string): void => {
  const { error } = answer.body ?? {}
  expect({ status: answer.status, code: error?.code }).toEqual({ status: statusOf(code), code })
  if (param !== undefined) expect(error.param).toBe(param)
  if (code === 'payload_too_large') expect(error.details.maximumBytes).toBeInteger()
  if (code === 'token_type_not_allowed' || code === 'right_missing')
    expect(answer.headers.get('www-authenticate')).toStartWith('Bearer error="insufficient_scope"') // RFC 6750 section 3
  expectEnvelope(answer)
}

const allowed = new Set(['code', 'message', 'requestId', 'param', 'details'])

/** The shape of every error on every route (contract section 1). */
export const expectEnvelope = ({ body, headers, status }: Answer): void => {
  expect(status).toBeGreaterThanOrEqual(400)
  expect(headers.get('content-type')).toBe('application/json')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error).filter((key) => !allowed.has(key))).toEqual([])
  expect(body.error.code).toBeString()
  expect(body.error.message).toMatch(/^[A-Z].*\.$/)
  expect(body.error.requestId).toMatch(/^req_[0-9a-f]{32}$/)
  expect(headers.get('x-request-id')).toBe(body.error.requestId)
}
