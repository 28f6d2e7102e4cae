import { servedApiVersion } from '../domain/api-version.ts'
import { refuse } from '../domain/errors.ts'
import { isContractPath, pathOf } from './paths.ts'
import type { Shell } from './shell.ts'
import { standardErrorsOf } from './standard-refusal.ts'

/**
 * Answers while the server waits for its database: it is alive, and takes nothing else. The answers have the form of the contract
 * (section 1) and of the RFCs below `/oauth/`.
 */
export const waitingShell =
  (newRequestId: () => string): Shell =>
  (request) => {
    const path = pathOf(request.url)
    const requestId = newRequestId()
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...(isContractPath(path) && { 'x-service-api-version': servedApiVersion.name }),
    }
    if (path === '/healthz') return new Response('{"status":"alive"}', { headers })
    const { code, message, status } = refuse('unavailable')
    const standard = standardErrorsOf(path)?.(code)
    const body =
      standard === undefined
        ? { error: { code, message, requestId, details: { conditions: ['database_unreachable'] } } }
        : { error: standard.name, error_description: message }
    return new Response(JSON.stringify(body), { status, headers: { ...headers, 'retry-after': '5' } })
  }
