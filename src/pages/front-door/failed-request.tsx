import {
  type AuthorizationError,
  type AuthorizationParameters,
  authorizationQueryOf,
  type AuthorizationRequest,
} from '../../domain/authorization-request.ts'
import { type ErrorCode, PlatformError } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { authorizationPath } from '../../http/paths.ts'
import { clientForMember } from '../../operations/redirect-uris.ts'
import { Layout, type PlatformFrame, RequestLine } from '../design/shell.tsx'
import { page } from '../page.ts'
import { leaveFor } from '../way-out.tsx'
import type { Call } from '../../http/call.ts'
import type { Door } from '../../http/door.ts'
import type { Visit } from '../visit.ts'

/** Signs out, and returns to the same request. */
export const switchAccountPath = '/oauth/authorize/switch-account'

/** The consent page for this request, which checks the request again. */
export const askPath = (request: AuthorizationRequest): string =>
  `${authorizationPath}?${authorizationQueryOf(request)}`

/** The sign-in page, which leads to the consent page for this request. `ended`: a form was sent, and its session had ended. */
export const signInPath = (request: AuthorizationRequest, form?: 'ended'): string =>
  `/sign-in?${new URLSearchParams({ return_to: askPath(request), ...(form && { form }) }).toString()}`

/** Answers the app, at its registered redirect URI. The page stays in the browser if the app goes on to a program outside it. */
export const goToApp = (door: Door, request: Request, redirectTo: string): Response =>
  leaveFor(door, request, redirectTo, {
    title: 'Back to the app',
    says: (
      <p>
        Your browser goes to <bdi class="whole">{new URL(redirectTo).host}</bdi>, the address that the app has
        registered. If another program opens for it, you can close this page.
      </p>
    ),
  })

type RequestError = {
  readonly error: AuthorizationError
  /** The app's registered redirect URI, with the error. */
  readonly redirectTo: string
}

/**
 * An error that the app could be told, shown to the person instead, because nobody is signed in or this person does not know
 * the app yet. Only a click leads to the app, and the link names its host (RFC 9700 section 4.11.2).
 */
export const requestErrorPage = (frame: PlatformFrame, call: Call, { error, redirectTo }: RequestError): Response => {
  call.notes.errorCode = error.error
  const { host } = new URL(redirectTo)
  return page(
    <Layout title="This app’s request failed" visit={frame} width="narrow">
      <p>An app sent you here to ask for access to your account. {reasonOf(error)}</p>
      <p>
        Nothing was shared. You can close this page, or go to <strong class="whole">{host}</strong>, the address that
        the app has registered. Go there only if you know it.
      </p>
      <p>
        <a href={redirectTo} class="button">
          Continue to <bdi>{host}</bdi>
        </a>
      </p>
      <h2>If you develop this app</h2>
      <p>
        The link answers your app with <code>error={error.error}</code>. Signed-in users are redirected there at once.
      </p>
      <RequestLine requestId={call.requestId} />
    </Layout>,
    { status: 400 },
  )
}

const reasonOf = ({ error, description }: AuthorizationError): string => {
  switch (error) {
    case 'login_required':
      return 'It asked this server to answer without showing you a page, but you are not signed in here.'
    case 'consent_required':
      return 'It asked this server to answer without showing you a page, but you have to decide about the access yourself.'
    default:
      return `Its request is not valid: ${description}`
  }
}

type Unanswered = {
  /** Null if nobody is signed in. */
  readonly visit: Visit | null
  readonly parameters: AuthorizationParameters
}

/**
 * The page for a request whose sender cannot be identified. Nobody is redirected or linked to the address that it named
 * (RFC 6749 section 4.1.2.1). Only members of the app learn more about it than everybody can. Throws every other error.
 */
export const unansweredPage = async (door: Door, call: Call, error: unknown, asked: Unanswered): Promise<Response> => {
  if (!(error instanceof PlatformError)) throw error
  const explanation = explanationOf(error.code)
  if (explanation === null) throw error
  call.notes.errorCode = error.code
  return page(
    <Layout title="This link does not work" visit={door.platform} width="narrow">
      <p>{explanation}</p>
      <p>Nothing was shared, and you were not redirected. You can close this page.</p>
      <h2>If you develop this app</h2>
      {error.code === 'invalid_client' ? (
        <p>
          {clientFault(asked.parameters.text('client_id'))} Send <code>client_id</code> exactly once, with the client ID
          that the developer console shows for your environment. The redirect address was not looked at.
        </p>
      ) : (
        <AboutUri uri={asked.parameters.text('redirect_uri')} own={await ownClient(door, asked)} />
      )}
      <RequestLine requestId={call.requestId} />
    </Layout>,
    { status: 400 },
  )
}

const explanationOf = (code: ErrorCode): string | null => {
  switch (code) {
    case 'invalid_client':
      return 'The app that sent you here is unknown to this server.'
    case 'invalid_redirect_uri':
      return 'The app that sent you here asked to send you back to an address it hasn’t registered.'
    default:
      return null
  }
}

/** What is wrong with a client ID, by its form alone. */
const clientFault = (clientId: string | null): string => {
  if (clientId === null) return 'The client ID is missing, empty, or was sent more than once.'
  return environmentOfClientId(clientId) === null
    ? 'This is not a client ID: one begins with apc_dev_ or apc_live_. Copy it as a whole, without spaces.'
    : 'No app here has this client ID. Perhaps it belongs to another server.'
}

type OwnClient = Awaited<ReturnType<typeof clientForMember>>

/** What a signed-in member of the app may know of its client; null for everybody else. */
const ownClient = async ({ platform }: Door, { visit, parameters }: Unanswered): Promise<OwnClient> =>
  visit === null
    ? null
    : await clientForMember(platform, visit.userId, {
        clientId: parameters.text('client_id') ?? '',
        redirectUri: parameters.text('redirect_uri') ?? '',
      })

const AboutUri = ({ uri, own }: { readonly uri: string | null; readonly own: OwnClient }) => (
  <>
    {uri === null ? (
      <p>
        The redirect URI is missing, empty, or was sent more than once. Send <code>redirect_uri</code> exactly once.
      </p>
    ) : isShowable(uri) ? (
      <p>
        Your app sent this <code>redirect_uri</code>: <code class="whole">{uri}</code>
      </p>
    ) : (
      <p>
        The <code>redirect_uri</code> that your app sent is too long, or has a space or a character that no URI has.
      </p>
    )}
    <p>
      It must be identical, character by character, to a URI that is registered for this client ID. Development and
      production have separate URIs.
    </p>
    {own === null ? null : (
      <p>
        {own.registeredElsewhere
          ? `The URI is registered for ${otherEnvironment[own.environment]}, but the client ID is that of ${own.environment}. `
          : `The client ID is that of ${own.environment}. `}
        <a href={`/console/${own.slug}/redirect-uris?environment=${own.environment}`}>
          Redirect URIs of <bdi>{own.name}</bdi>
        </a>
      </p>
    )}
  </>
)

const otherEnvironment = { development: 'production', production: 'development' } as const

/** Anybody can write a link with any text. Without spaces it cannot pass for a sentence of this server. */
const isShowable = (uri: string): boolean => /^[\x21-\x7e]{1,500}$/.test(uri) && URL.canParse(uri)
