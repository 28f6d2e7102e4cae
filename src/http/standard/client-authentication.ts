import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { ClientCredentials } from '../../operations/authenticate-client.ts'
import type { Call } from '../call.ts'
import { readBasicCredentials } from './basic-credentials.ts'
import type { Parameters } from './parameters.ts'

/** What an unreadable header is taken for: nobody's credentials, refused, counted and recorded like any wrong ones. */
const nobody: ClientCredentials = { clientId: '', clientSecret: '' }

/**
 * The credentials that a client presents, by header (client_secret_basic) or form (client_secret_post); whether they
 * are any good, the operation decides. Never by both, and a client ID beside the header must be the same (RFC 6749
 * section 2.3).
 * @throws invalid_client when there are none; invalid_request
 */
export const clientOf = ({ authorization }: Call, parameters: Parameters): ClientCredentials => {
  const clientId = parameters('client_id')
  const clientSecret = parameters('client_secret')
  if (authorization.kind === 'none') {
    if (clientId === null || clientSecret === null) throw refuse('invalid_client')
    if (hasAssertion(parameters)) throw twice()
    return { clientId, clientSecret }
  }
  if (clientSecret !== null || hasAssertion(parameters)) throw twice()
  const client = authorization.kind === 'other' ? readBasicCredentials(authorization.header) : null
  if (client !== null && clientId !== null && clientId !== client.clientId) throw mixedUp()
  return client ?? nobody
}

/** RFC 7523, which is not offered: beside a secret it is a second method. */
const hasAssertion = (parameters: Parameters): boolean =>
  parameters('client_assertion') !== null || parameters('client_assertion_type') !== null

const twice = (): PlatformError =>
  refuse('invalid_request', { message: 'The client authenticates by more than one method.' })

const mixedUp = (): PlatformError =>
  refuse('invalid_request', { param: 'client_id', message: 'The parameter client_id names another client.' })
