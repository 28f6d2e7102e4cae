import type { PlatformError } from '../domain/errors.ts'
import type { RefusalPage } from '../http/envelope.ts'
import type { Call } from '../http/call.ts'
import { programPaths } from '../http/paths.ts'
import { Layout } from './layout.tsx'
import { page, seeOther } from './page.ts'

/** Whether a route, by its pattern, is a page for people. */
export const isPageRoute = (pattern: string): boolean => pattern.startsWith('/') && !programPaths.test(pattern)

/** Whether a person is looking: the route is a page, or there is none and a browser asked for one. */
const isForPeople = ({ route, path, request }: Call): boolean =>
  isPageRoute(route) ||
  (route === 'unmatched' && !programPaths.test(path) && request.headers.get('accept')?.includes('text/html') === true)

/** A refusal as a page with the request ID. Who is not signed in is asked to, and comes back. */
export const refusalPage =
  (platformName: string): RefusalPage =>
  (error, call) => {
    if (!isForPeople(call)) return null
    call.notes.errorCode = error.code
    if (error.code === 'login_required')
      return seeOther(`/sign-in?return_to=${encodeURIComponent(pageOf(call.request))}`)
    return page(<Refusal platformName={platformName} error={error} call={call} />, { refusal: error })
  }

/** The page that was asked for; for a form, the one that it stands on, which only a browser of ours names. */
const pageOf = (request: Request): string => {
  const url = new URL(request.url)
  if (request.method === 'GET' || request.method === 'HEAD') return url.pathname + url.search
  const from = URL.parse(request.headers.get('referer') ?? '')
  return from !== null && from.host === url.host ? from.pathname + from.search : '/'
}

type RefusalProps = {
  readonly platformName: string
  readonly error: PlatformError
  readonly call: Call
}

const Refusal = ({ platformName, error, call }: RefusalProps) => (
  <Layout title={titleOf(error.status)} visit={{ platformName }} width="narrow">
    <p>{error.status === 404 ? 'There is nothing at this address, or it is not yours to see.' : error.message}</p>
    <p>
      <a href="/">Go to the start page</a>
    </p>
    <p class="muted">
      Request <code>{call.requestId}</code>
    </p>
  </Layout>
)

const titleOf = (status: number): string => {
  switch (status) {
    case 404:
      return 'Not found'
    case 429:
      return 'Too many requests'
    case 503:
      return 'Not available now'
    default:
      return status >= 500 ? 'Something went wrong' : 'This did not work'
  }
}
