import type { VNode } from 'preact'
import { graceHours } from '../domain/credential.ts'
import { forgetCookie, readCookie, setCookie } from '../http/cookies.ts'
import { Field } from './design/field.tsx'
import { page, seeOther } from './page.ts'
import { ofSession, seal, unseal } from './sealed.ts'
import type { Visit } from './visit.ts'

// A form that makes a secret leads to a page of its own, which shows the secret once. Until then the browser keeps it in a
// cookie that only this server can read, for this session and this page. So the server stores no secret, and any server of
// the same database can show it.

/** How long the browser has for the redirect. */
const lifetimeSeconds = 60

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
export const shownCookie = (visit: Pick<Visit, 'door' | 'sessionToken'>, path: string, value: string): string =>
  setCookie(visit.door, 'shown', seal(ofSession(visit, path), value), lifetimeSeconds)

/** The page that shows it. The value is null when it was shown before. */
export const secretPage = (visit: Visit, show: (value: string | null) => VNode): Response => {
  const { door, call } = visit
  const whom = ofSession(visit, call.path)
  const shown = readCookie(door, call.request, 'shown', (sealed) => unseal(whom, sealed, lifetimeSeconds))
  return page(show(shown?.content.toString() ?? null), {
    // That of another page stays, and who asks for the head alone has seen nothing (RFC 9110 section 9.3.2).
    cookies: shown === null || call.request.method === 'HEAD' ? [] : [forgetCookie(door, 'shown')],
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
