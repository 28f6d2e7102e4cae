import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { Call } from '../call.ts'
import { readForm } from '../strict-form.ts'

const clientNames = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'] as const
const tokenNames = ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope'] as const
const subjectNames = ['token', 'token_type_hint'] as const
/** The parameters that mean something here; every other one is ignored (RFC 6749 section 3.2). */
const names = [...clientNames, ...tokenNames, ...subjectNames] as const

export type ParameterName = (typeof names)[number]
/** The value of a parameter; null when it was not sent, or sent without a value, which is the same (RFC 6749 section 3.2). */
export type Parameters = (name: ParameterName) => string | null

/**
 * The parameters of a request, from its form alone: nothing that belongs there may stand in the URL, which ends up in
 * logs along the way (RFC 6749 section 2.3.1).
 * @throws invalid_request also for a parameter that comes more than once (RFC 6749 section 3.2); payload_too_large
 */
export const readParameters = async (call: Call): Promise<Parameters> => {
  refuseQuery(call.request)
  const form = await readForm(call)
  const repeated = names.find((name) => (form.get(name)?.length ?? 0) > 1)
  if (repeated !== undefined) throw fault(repeated, 'came more than once')
  return (name) => form.get(name)?.[0] || null
}

/** The value of a parameter that must be there. @throws invalid_request */
export const needed = (parameters: Parameters, name: ParameterName): string => {
  const value = parameters(name)
  if (value === null) throw fault(name, 'is missing')
  return value
}

const refuseQuery = ({ url }: Request): void => {
  const start = url.indexOf('?')
  if (start === -1) return
  const query = new URLSearchParams(url.slice(start))
  const misplaced = names.find((name) => query.has(name))
  if (misplaced !== undefined) throw fault(misplaced, 'belongs in the body, never in the URL')
}

const fault = (name: ParameterName, what: string): PlatformError =>
  refuse('invalid_request', { param: name, message: `The parameter ${name} ${what}.` })
