import { Elysia, type ValidationError } from 'elysia'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { Log } from '../runtime/log.ts'
import { errorResponse, type RefusalPage } from './envelope.ts'
import { fieldRefusal } from './field-refusal.ts'
import { callOf } from './call.ts'

/**
 * Answers whatever a route throws with the one envelope. Mount it before every route: Elysia's own answers repeat the body and
 * send the messages of errors.
 */
export const errorHandling = (log: Log, refusalPage: RefusalPage) =>
  new Elysia({ name: 'error-handling' }).onError({ as: 'global' }, ({ code, error, request }) => {
    const call = callOf(request)
    const refusal = code === 'VALIDATION' ? refusalFromValidation(error) : refusalFrom(code, error)
    if (refusal.code === 'internal_error') log.error('http.failed', { requestId: call.requestId, cause: error })
    return refusalPage(refusal, call) ?? errorResponse(refusal, call)
  })

const refusalFrom = (code: string | number, error: unknown): PlatformError => {
  if (error instanceof PlatformError) return error
  // What a parser throws arrives wrapped.
  if (error instanceof Error && error.cause instanceof PlatformError) return error.cause
  switch (code) {
    case 'NOT_FOUND':
      return refuse('route_not_found')
    case 'PARSE':
      return refuse('invalid_json')
    case 'INVALID_COOKIE_SIGNATURE':
      return refuse('login_required')
    default:
      return refuse('internal_error')
  }
}

type FailedValidation = Pick<ValidationError, 'type' | 'validator' | 'valueError'>

/** An answer that breaks its own schema is our fault, not the caller's. */
const refusalFromValidation = ({ type, validator, valueError }: FailedValidation): PlatformError => {
  if (type === 'response') return refuse('internal_error')
  return fieldRefusal(validator, valueError?.path ?? '')
}
