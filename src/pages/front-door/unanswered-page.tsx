import { type ErrorCode, PlatformError } from '../../domain/errors.ts'
import { callOf } from '../../http/call.ts'
import { Layout } from '../layout.tsx'
import { page } from '../page.ts'

/**
 * The page for a request whose sender cannot be told anything, since it is not certain who that is: nobody is sent or
 * linked to the address that it named (RFC 6749 section 4.1.2.1). Throws every other error on.
 */
export const unansweredPage = (platformName: string, request: Request, error: unknown): Response => {
  if (!(error instanceof PlatformError)) throw error
  const explanation = explanationOf(error.code)
  if (explanation === null) throw error
  const call = callOf(request)
  call.notes.errorCode = error.code
  return page(
    <Layout title="This link does not work" visit={{ platformName }} width="narrow">
      <p>{explanation}</p>
      <p>Nothing was shared, and you were sent nowhere. You can close this page.</p>
      <h2>If you make this app</h2>
      <p>{adviceOf(error.code)}</p>
      <p class="muted">
        Request <code>{call.requestId}</code>
      </p>
    </Layout>,
    { status: 400 },
  )
}

const explanationOf = (code: ErrorCode): string | null => {
  switch (code) {
    case 'invalid_client':
      return 'You were sent here by an app that this server does not know.'
    case 'invalid_redirect_uri':
      return 'You were sent here by an app that wants to be answered at an address which is not registered for it.'
    default:
      return null
  }
}

const adviceOf = (code: ErrorCode) =>
  code === 'invalid_client' ? (
    <>
      Send <code>client_id</code> exactly once, with the client ID that the developer console shows for your
      environment.
    </>
  ) : (
    <>
      Send <code>redirect_uri</code> exactly once. It must equal, character by character, one that is registered for
      this client ID: development and production have their own.
    </>
  )
