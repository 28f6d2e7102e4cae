import type { Call } from '../http/call.ts'
import type { RefusalPage } from '../http/envelope.ts'
import { programPaths } from '../http/paths.ts'
import { RightAddress } from './design/field.tsx'
import { type PlatformFrame, RequestLine, wordsPage } from './design/shell.tsx'
import { isReading, logCodeOf, requestedPage, seeOther, SendTo, type SentForm } from './page.ts'
import { proveAddress, provePath } from './proof.ts'
import { refusalInWords } from './words.ts'

/** Whether the route with this pattern is a page for people. */
export const isPageRoute = (pattern: string): boolean => pattern.startsWith('/') && !programPaths.test(pattern)

/** Whether a person sees the answer: the route is a page, or a browser asked for a page that does not exist. */
const isForPeople = ({ route, path, request }: Call): boolean =>
  isPageRoute(route) ||
  (route === 'unmatched' && !programPaths.test(path) && request.headers.get('accept')?.includes('text/html') === true)

/** The API reference lies between the paths of programs. */
const isPageAddress = (path: string): boolean => isPageRoute(path) || path === '/docs' || path.startsWith('/docs/')

/** With its question mark, cut from the text: some Host headers give no valid URL. */
const queryOf = (url: string): string => (url.includes('?') ? url.slice(url.indexOf('?')) : '')

/**
 * A refusal as a page with the request ID. People who are not signed in go to the sign-in page and come back. People type a slash after the
 * address of a page; for programs that stays another address.
 */
export const refusalPage =
  (frame: PlatformFrame): RefusalPage =>
  (error, call, withoutSlash = null) => {
    if (withoutSlash !== null && isPageAddress(withoutSlash)) {
      return seeOther(withoutSlash + queryOf(call.request.url))
    }
    if (!isForPeople(call)) return null
    call.notes.errorCode = logCodeOf(error)
    if (error.code === 'login_required') {
      const goal = error instanceof SendTo ? error.goal : { to: 'sign-in' as const, form: 'ended' as const }
      if (goal.to === 'page') {
        call.notes.errorCode = goal.logCode
        return seeOther(requestedPage(call.request))
      }
      return seeOther(goal.to === 'proof' ? proofAddress(call) : signInAddress(call.request, goal.form))
    }
    if (error.code === 'method_not_allowed' && isReading(call.request)) return seeOther(parentOf(call.path))
    const isMissing = error.status === 404
    return wordsPage(frame, {
      title: titleOf(error.status),
      says: (
        <>
          {isMissing ? nothingThere : refusalInWords(error)}
          {isMissing && !isReading(call.request) ? ' Nothing was changed.' : ''}
          <RightAddress error={error} />
        </>
      ),
      to: ['/', 'Go to the start page'],
      more: <RequestLine requestId={call.requestId} />,
      options: { refusal: error },
    })
  }

const nothingThere = 'There is nothing at this address, or you have no access to it.'

/** The page above an address that only takes forms. So the answer to a refused form can be loaded again. */
const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')))

const proofAddress = (call: Call): string => proveAddress(requestedPage(call.request), pageBefore(call))

/** The sign-in page, which leads back. `form` says what became of a form that was sent. */
const signInAddress = (request: Request, form: SentForm): string => {
  const query = new URLSearchParams({ return_to: requestedPage(request) })
  if (!isReading(request)) query.set('form', form)
  return `/sign-in?${query.toString()}`
}

/** Where somebody goes who does not prove that it is them: the page that they came from, or the page above their form. */
const pageBefore = ({ request }: Call): string => {
  const { pathname } = new URL(request.url, 'http://here')
  const from = URL.parse(request.headers.get('referer') ?? '')
  const isOther = from !== null && from.host === new URL(request.url).host && from.pathname !== pathname
  const isPage = isOther && isReading(request) && from.pathname !== provePath && !from.pathname.startsWith('/sign-in')
  return isPage ? from.pathname + from.search : parentOf(isReading(request) ? pathname : (from?.pathname ?? pathname))
}

const titleOf = (status: number): string =>
  titles[status] ?? (status >= 500 ? 'Something went wrong' : 'The request was refused')

const titles: Readonly<Record<number, string>> = {
  404: 'Not found',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
}
