import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { ComponentChildren } from 'preact'
import { forgetCookie, hasRoom, readCookie, setCookie, type TabCookie } from '../http/cookies.ts'
import type { Door } from '../http/door.ts'
import { isFromSameOrigin } from '../http/session-cookie.ts'
import { Layout } from './design/shell.tsx'
import { page, redirectTo } from './page.ts'
import { longestReturnTo } from './visit.ts'

// Every way from here to another origin. Browsers apply the `form-action` of a page to each redirect after a form of it, whoever sends the
// redirect. So no redirect that may follow a form leaves this origin: a page of ours ends the chain and goes on from there.

/** What the person reads on the way, for a moment or until they press the button. */
type Departure = {
  readonly title: string
  readonly says: ComponentChildren
  readonly cookies?: readonly string[]
  /** Only the button goes on: the page says something that has to be read first. */
  readonly waits?: boolean
}

/** Leads to another origin: by a redirect for a request that no form of ours can have begun, else by a page. */
export const leaveFor = (door: Door, request: Request, to: string, departure: Departure): Response =>
  departure.waits === true || mayFollowForm(door, request)
    ? departurePage(door, to, departure)
    : redirectTo(to, departure.cookies)

/** Each browser says where a navigation began, in one header or the other: redirects keep both. */
const mayFollowForm = (door: Door, request: Request): boolean => {
  if (request.method === 'POST' || isFromSameOrigin(door, request)) return true
  if (request.headers.has('sec-fetch-site')) return false
  const from = URL.parse(request.headers.get('referer') ?? '')
  return from !== null && (from.origin === door.platform.publicUrl || from.host === new URL(request.url).host)
}

/** The page that goes on by itself, with and without JavaScript. The address may hold a code, so it is in the link alone. */
export const departurePage = (door: Door, to: string, { title, says, cookies, waits = false }: Departure): Response => {
  const response = page(
    <Layout title={title} visit={door.platform} width="narrow">
      {says}
      <p>
        <a class="button primary" href={to} rel="noreferrer">
          Continue
        </a>
      </p>
    </Layout>,
    cookies === undefined ? {} : { cookies },
  )
  response.headers.set('referrer-policy', 'no-referrer')
  if (!waits) response.headers.set('refresh', `0; url=${to}`)
  return response
}

/**
 * Remembers what a tab needs when it comes back from elsewhere; null if that is too long for a cookie. Each tab has a name of its own, so
 * that several can leave and come back.
 */
export const rememberTab = (
  door: Door,
  request: Request,
  stem: TabCookie,
  text: string,
  maxAgeSeconds: number,
): readonly string[] | null => {
  const value = deflateRawSync(text).toString('base64url')
  return hasRoom(door, request, stem, value) ? [setCookie(door, stem, value, maxAgeSeconds)] : null
}

/** What was remembered, and the cookies that forget it; null if this browser does not know the tab. */
export const recallTab = (
  door: Door,
  request: Request,
  stem: TabCookie,
): { readonly text: string; readonly forgotten: readonly string[] } | null => {
  const text = readCookie(door, request, stem, unpacked)
  return text === null ? null : { text, forgotten: [forgetCookie(door, stem)] }
}

/** More than the longest way back and what comes with it. */
const longestText = longestReturnTo + 4_096

const unpacked = (value: string): string | null => {
  try {
    return inflateRawSync(Buffer.from(value, 'base64url'), { maxOutputLength: longestText }).toString()
  } catch {
    return null // not ours
  }
}
