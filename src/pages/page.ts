import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { PlatformError } from '../domain/errors.ts'

type PageOptions = {
  readonly status?: number
  /** What was refused, where the page shows a form again: its status, and when to come back. */
  readonly refusal?: PlatformError | null
  /** Another origin that a form of this page may lead to: browsers hold redirects after a form to `form-action` as well. */
  readonly formTarget?: string
  /** The one origin that a frame of this page may show; the page's own script may then call this server. */
  readonly framed?: string
  readonly cookies?: readonly string[]
}

/** Nothing but this server: no inline script or style, nothing from elsewhere, and no frame around it (RFC 9700 section 4.16). */
const contentSecurityPolicy = ({ formTarget, framed }: PageOptions): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `form-action 'self'${formTarget === undefined ? '' : ` ${formTarget}`}`,
    ...(framed === undefined ? [] : [`frame-src ${framed}`, "connect-src 'self'"]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** A page as an answer. Pages are about one person: they are never stored, neither here nor by the way. */
export const page = (content: VNode, options: PageOptions = {}): Response =>
  new Response(`<!doctype html>${renderToString(content)}`, {
    status: options.status ?? options.refusal?.status ?? 200,
    headers: headersOf(options.cookies ?? [], {
      ...retryAfter(options.refusal?.facts.retryAfterSeconds),
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': contentSecurityPolicy(options),
      'x-frame-options': 'DENY', // for browsers that do not know frame-ancestors
      // Not no-referrer: a form would be sent with `Origin: null`, which proves nothing.
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    }),
  })

const retryAfter = (seconds: number | undefined): Readonly<Record<string, string>> =>
  seconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(seconds))) }

/** After a form: go and look at the result, so that reloading sends nothing again (303, RFC 9110 section 15.4.4). */
export const seeOther = (location: string, cookies: readonly string[] = []): Response =>
  new Response(null, {
    status: 303,
    headers: headersOf(cookies, { location, 'cache-control': 'no-store', 'referrer-policy': 'same-origin' }),
  })

const headersOf = (cookies: readonly string[], names: Readonly<Record<string, string>>): Headers => {
  const headers = new Headers(names)
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return headers
}

/**
 * Where a form may lead to that ends at an app. Chromium and WebKit hold every redirect after a form to `form-action`: the one to
 * the redirect URI, and all by which the app then leads people on, to hosts that only it knows. Naming the first alone would
 * strand them here with the code spent, and keep nothing out: whoever could write on this page is the app, whose own origin
 * must be allowed.
 */
export const appOrigins = 'https:'
