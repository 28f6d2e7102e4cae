import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { PlatformError } from '../domain/errors.ts'

type PageOptions = {
  readonly status?: number
  /** Why a form was refused, on the page that shows it again: sets the status and Retry-After. */
  readonly refusal?: PlatformError | null
  /** Another origin that a form of this page may lead to. Browsers apply `form-action` to redirects after a form as well. */
  readonly formTarget?: string
  /** The only origin that a frame of this page may show. The page's own script may then call this server. */
  readonly framed?: string
  readonly cookies?: readonly string[]
  /** The address of the page is secret: nothing may learn it as a referrer. */
  readonly hidesAddress?: boolean
  /** The page's own script may call this server, to send a file with progress. */
  readonly uploads?: boolean
}

/** Allows only files of this server: no inline script or style, and no frame around the page (RFC 9700 section 4.16). */
const contentSecurityPolicy = ({ formTarget, framed, uploads = false }: PageOptions): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `form-action 'self'${formTarget === undefined ? '' : ` ${formTarget}`}`,
    ...(framed === undefined ? [] : [`frame-src ${framed}`]),
    ...(framed === undefined && !uploads ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** A page as an answer. No cache stores it, as the shell says of every answer. */
export const page = (content: VNode, options: PageOptions = {}): Response =>
  new Response(`<!doctype html>${renderToString(content)}`, {
    status: options.status ?? options.refusal?.status ?? 200,
    headers: headersOf(options.cookies ?? [], {
      ...retryAfter(options.refusal?.facts.retryAfterSeconds),
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy(options),
      'x-frame-options': 'DENY', // for browsers that do not know frame-ancestors
      // Elsewhere not no-referrer: forms are then sent with `Origin: null`, and only Sec-Fetch-Site proves where they come from.
      'referrer-policy': options.hidesAddress === true ? 'no-referrer' : 'same-origin',
      ...staysWithOpener,
    }),
  })

/**
 * No other site reaches into a window with a page, or the reverse. Redirects say it too: one without it would part a window from
 * our own page that opened it, as *Authorize* in the API reference does.
 */
const staysWithOpener = { 'cross-origin-opener-policy': 'same-origin' } as const

const retryAfter = (seconds: number | undefined): Readonly<Record<string, string>> =>
  seconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(seconds))) }

/** Redirects to the result of a form, so that a reload does not send the form again (303, RFC 9110 section 15.4.4). */
export const seeOther = (location: string, cookies: readonly string[] = []): Response =>
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

/** A page that shows a refused form again: with its status, and when to try again. */
export const withRefusal = (shown: Response, { status, facts }: PlatformError): Response => {
  const headers = new Headers(shown.headers)
  for (const [name, value] of Object.entries(retryAfter(facts.retryAfterSeconds))) headers.set(name, value)
  return new Response(shown.body, { status, headers })
}

const headersOf = (cookies: readonly string[], names: Readonly<Record<string, string>>): Headers => {
  const headers = new Headers(names)
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return headers
}

/**
 * The origins that a form may lead to when its redirects end at an app. Chromium and WebKit apply `form-action` to every redirect
 * after a form: the one to the redirect URI, and those that the app adds, to hosts that only the app knows. If only the
 * redirect URI were allowed, people would be stranded here with the code spent. It would not improve security, because
 * the only party that could write on this page is the app, whose own origin must be allowed anyway.
 */
export const appOrigins = 'https:'
