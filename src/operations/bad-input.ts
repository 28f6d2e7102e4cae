import { type PlatformError, refuse } from '../domain/errors.ts'

/** Input of an operator or owner that does not hold: malformed, taken, missing or in the wrong state. */
export const badInput = (param: string, message: string): PlatformError => refuse('invalid_request', { param, message })
