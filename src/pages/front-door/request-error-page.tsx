import type { AuthorizationError } from '../../domain/authorization-request.ts'
import { callOf } from '../../http/call.ts'
import { Layout } from '../layout.tsx'
import { page } from '../page.ts'

type RequestErrorProps = {
  readonly error: AuthorizationError
  /** The app's registered redirect URI, with the error. */
  readonly redirectTo: string
}

/**
 * An error that the app could be told, shown to the person instead, because nobody has signed in or the app is unknown to who
 * has. Only a click leads on, and the link names where it leads (RFC 9700 section 4.11.2).
 */
export const requestErrorPage = (
  platformName: string,
  request: Request,
  { error, redirectTo }: RequestErrorProps,
): Response => {
  const call = callOf(request)
  call.notes.errorCode = error.error
  const { host } = new URL(redirectTo)
  return page(
    <Layout title="This app’s request failed" visit={{ platformName }} width="narrow">
      <p>An app sent you here to ask for access to your account. {explanationOf(error)}</p>
      <p>
        Nothing was shared. You can close this page, or go back to the app, which is at{' '}
        <strong class="whole">{host}</strong>. Go there only if you know this address.
      </p>
      <p>
        <a href={redirectTo} class="button">
          Continue to <bdi>{host}</bdi>
        </a>
      </p>
      <h2>If you make this app</h2>
      <p>
        The link answers your app with <code>error={error.error}</code>. Users who are signed in are sent there at once.
      </p>
      <p class="muted">
        Request <code>{call.requestId}</code>
      </p>
    </Layout>,
    { status: 400 },
  )
}

const explanationOf = ({ error, description }: AuthorizationError): string => {
  switch (error) {
    case 'login_required':
      return 'It asked this server to answer without showing you a page, but you are not signed in here.'
    case 'consent_required':
      return 'It asked this server to answer without showing you a page, but you have to decide about the access yourself.'
    default:
      return `Its request cannot be used: ${description}`
  }
}
