import type { VNode } from 'preact'
import { graceHours } from '../domain/credential.ts'
import { openText, sealNonceBytes, sealText } from '../domain/sealed-text.ts'
import { forgetCookie, readCookie, setCookie } from '../http/cookies.ts'
import { Field } from './design/field.tsx'
import { page, seeOther } from './page.ts'
import type { Visit } from './visit.ts'

// A form that makes a secret leads to a page of its own, which shows the secret once. Until then the browser keeps it in a
// cookie that only this server can read, for this session and this page. So the server stores no secret, and any server of
// the same database can show it.

/** How long the browser has for the redirect. */
const lifetimeSeconds = 60

type Shower = Pick<Visit, 'door' | 'sessionToken'>

const purposeOf = ({ door, sessionToken }: Shower, path: string) => ({
  server: door.serverKey,
  browser: sessionToken,
  place: path,
})

/** Redirects to the page with this path, and a query if any, which shows the value once. */
export const showOnce = (
  visit: Visit,
  path: string,
  value: string,
  query: Readonly<Record<string, string>> = {},
): Response => {
  const parameters = new URLSearchParams(query).toString()
  return seeOther(parameters === '' ? path : `${path}?${parameters}`, [shownCookie(visit, path, value)])
}

/** The cookie for a redirect to that page. */
export const shownCookie = (visit: Shower, path: string, value: string): string => {
  const { platform } = visit.door
  const text = JSON.stringify([platform.clock.now(), value])
  const sealed = sealText(purposeOf(visit, path), text, platform.random.bytes(sealNonceBytes))
  return setCookie(visit.door, 'shown', sealed, lifetimeSeconds)
}

/** The page that shows it. The value is null when it was shown before. */
export const secretPage = (visit: Visit, show: (value: string | null) => VNode): Response => {
  const { door, call } = visit
  const text = readCookie(door, call.request, 'shown', (sealed) => openText(purposeOf(visit, call.path), sealed))
  const [, at, value] = /^\[(\d+),(".*")\]$/s.exec(text ?? '') ?? []
  const isRecent = door.platform.clock.now() - Number(at) < lifetimeSeconds * 1000
  return page(show(value !== undefined && isRecent ? String(JSON.parse(value)) : null), {
    cookies: text === null ? [] : [forgetCookie(door, 'shown')], // that of another page stays
  })
}

/** How many hours the secret that a form replaces stays valid. */
export const GraceField = ({ label, hint }: { readonly label: string; readonly hint: string }) => (
  <Field
    label={label}
    name="graceHours"
    hint={`0 to ${graceHours.maximum}. ${hint}`}
    input={{ type: 'number', value: String(graceHours.default), min: 0, max: graceHours.maximum, required: true }}
  />
)
