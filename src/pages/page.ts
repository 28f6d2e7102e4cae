import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { PlatformError } from '../domain/errors.ts'
import { formCauseIn } from '../domain/form-cause.ts'

type PageOptions = {
  readonly status?: number
  /** Why a form was refused, on the page that shows it again: sets the status and Retry-After. */
  readonly refusal?: PlatformError | null
  /** The only origin that a frame of this page may show. The page's own script may then call this server. */
  readonly framed?: string
  readonly cookies?: readonly string[]
  /** The address of the page is secret: nothing may learn more of it than the origin. */
  readonly hidesAddress?: boolean
  /** The page's own script may call this server, to send a file with progress. */
  readonly uploads?: boolean
}

/** Allows only files of this server: no inline script or style, and no frame around the page (RFC 9700 section 4.16). */
const contentSecurityPolicy = ({ framed, uploads = false }: PageOptions): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'", // browsers apply it to redirects after a form too: `way-out.tsx`
    ...(framed === undefined ? [] : [`frame-src ${framed}`]),
    ...(framed === undefined && !uploads ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The class of a summary that says a single fault of a field. */
export const ofOneField = 'problem of-field'

/** The summary is written before the fields. If a field says the same, the summary is taken out again. */
const saidOnce = (html: string): string =>
  html.includes(ofOneField) && html.includes('class="fault"')
    ? html.replace(new RegExp(`<p class="${ofOneField}".*?</p>`, 's'), '')
    : html

/** A page as an answer. No cache stores it, as the shell says of every answer. */
export const page = (content: VNode, options: PageOptions = {}): Response => answerWith(textOf(content), options)

/** Pages that are kept at the same time. The longest have some 60 KB. */
const mostKept = 64

/**
 * A page for many readers, without a word about one of them. Its text is made once for each `key`, which has all that the page
 * shows, so a kept text is never out of date.
 */
export const sharedPage = () => {
  const kept = new Map<string, string>()
  return (key: string, content: () => VNode): Response => {
    const text = kept.get(key) ?? textOf(content())
    if (kept.size >= mostKept) kept.clear()
    kept.set(key, text)
    return answerWith(text)
  }
}

const textOf = (content: VNode): string => `<!doctype html>${saidOnce(renderToString(content))}`

const answerWith = (body: string, options: PageOptions = {}): Response => {
  const init = {
    status: options.status ?? options.refusal?.status ?? 200,
    headers: headersOf(options.cookies ?? [], {
      ...retryAfter(options.refusal?.facts.retryAfterSeconds),
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy(options),
      'x-frame-options': 'DENY', // for browsers that do not know frame-ancestors
      // Never no-referrer on a page with a form: browsers then send it with `Origin: null`, and without HTTPS nothing else proves where it comes from.
      'referrer-policy': options.hidesAddress === true ? 'strict-origin' : 'same-origin',
      ...staysWithOpener,
    }),
  }
  const { refusal } = options
  return refusal == null ? new Response(body, init) : new RefusedPage(body, init, logCodeOf(refusal))
}

/**
 * No other site reaches into a window with a page, or the reverse. Redirects say it too: one without it would part a window from
 * our own page that opened it, as *Authorize* in the API reference does.
 */
const staysWithOpener = { 'cross-origin-opener-policy': 'same-origin' } as const

const retryAfter = (seconds: number | undefined): Readonly<Record<string, string>> =>
  seconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(seconds))) }

/** Redirects to a page of ours, such as the result of a form, so that a reload does not send the form again. */
export const seeOther = (path: string, cookies: readonly string[] = []): Response => {
  if (!/^\/(?!\/)/.test(path)) throw new Error('Only `leaveFor` leads to another origin.')
  return redirectTo(path, cookies)
}

/** Redirects with 303, after which browsers send GET (RFC 9110 section 15.4.4). */
export const redirectTo = (location: string, cookies: readonly string[] = []): Response =>
  new Response(null, {
    status: 303,
    headers: headersOf(cookies, {
      location,
      'referrer-policy': 'same-origin',
      ...staysWithOpener,
    }),
  })

/** Reads a piece when the connection has room for it. After an error the connection is closed, which fails the download. */
export const streamOf = (
  pieces: AsyncGenerator<Uint8Array>,
  failed: (error: unknown) => void = () => undefined,
): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { value, done } = await pieces.next()
          if (done === true) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          failed(error)
          controller.error(error) // closes the connection
        }
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  )

/**
 * A page that shows a refused form again: with its status, and when to try again. If there is no form to show any more, the page
 * or the redirect that says so stays as it is.
 */
export const withRefusal = (shown: Response, error: PlatformError): Response => {
  if (shown.status !== 200) return shown
  const headers = new Headers(shown.headers)
  for (const [name, value] of Object.entries(retryAfter(error.facts.retryAfterSeconds))) headers.set(name, value)
  return new RefusedPage(shown.body, { status: error.status, headers }, logCodeOf(error))
}

const headersOf = (cookies: readonly string[], names: Readonly<Record<string, string>>): Headers => {
  const headers = new Headers(names)
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return headers
}

export const isReading = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/**
 * The requested page; for a form, the page that it is on, which the browser names in the referrer. A page that hides its address looks
 * there like the start page, which has no forms of its own.
 */
export const requestedPage = (request: Request): string => {
  const url = new URL(request.url)
  if (isReading(request)) return url.pathname + url.search
  const from = URL.parse(request.headers.get('referer') ?? '')
  const isNamed = from !== null && from.host === url.host && from.pathname !== '/'
  return isNamed ? from.pathname + from.search : url.pathname + url.search
}

/**
 * What became of a form that was sent without a live session: kept for its page, kept instead of an earlier one, too long to be kept,
 * not read, or the end of no sign-in or of one from before a change.
 */
export type SentForm = 'kept' | 'instead' | 'lost' | 'ended' | 'late' | 'changed'

/** Ends a request by sending the person elsewhere first, and back: to sign in, to prove that it is them, or to the page of a kept form. */
export class SendTo extends PlatformError {
  constructor(
    readonly goal:
      | { readonly to: 'sign-in'; readonly form: SentForm }
      | { readonly to: 'proof' }
      | { readonly to: 'page'; readonly logCode: string },
  ) {
    super('login_required')
  }
}

/** What the log calls a refusal: the cause where it has one, else its code. */
export const logCodeOf = ({ code, facts }: PlatformError): string => formCauseIn(facts.details) ?? code

/** A page that says why something was refused. What answers for all pages notes the code for the log. */
export class RefusedPage extends Response {
  constructor(
    body: ConstructorParameters<typeof Response>[0],
    init: ConstructorParameters<typeof Response>[1],
    readonly logCode: string,
  ) {
    super(body, init)
  }
}
