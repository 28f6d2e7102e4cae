import { type Environment, environments } from '../domain/app.ts'
import type { Call } from '../http/call.ts'
import type { Values } from './kept-form.ts'
import { choiceParameter } from './query.ts'

// The pages of an app show one of its environments at a time, and the address says which one. What leads from one of them to another
// says it too: links, forms, filters, the next rows of a list, and redirects. It is added here to all answers, so that no page
// can forget it. A page whose address does not say one shows the usual one, and leads on without saying it.

/** What a form says that it is about. */
export const environmentIn = (sent: Values | null): Environment | null =>
  environments.find((one) => one === sent?.['environment']) ?? null

/** What the address says; null if it says nothing, or an environment that does not exist. */
export const environmentSaid = (request: Request): Environment | null =>
  choiceParameter(request, 'environment', environments)

/** The answer with the environment that it shows in every address of the same app that says none. */
export const leadOn = async (answer: Response, call: Call): Promise<Response> => {
  const root = /^\/(?:console|desk\/apps)\/[^/]+/.exec(call.path)?.[0]
  const environment = call.environment ?? environmentSaid(call.request)
  if (root === undefined || environment === null) return answer
  const { headers, status } = answer
  const location = headers.get('location')
  if (location !== null) headers.set('location', addressWith(environment, root, location, '&'))
  if (headers.get('content-type')?.startsWith('text/html') !== true) return answer
  const text = await answer.text()
  return new Response(pageWith(environment, root, text), { status, headers })
}

/** Text and values have no quotation mark in HTML, so this finds attributes only. A form that reads drops the query of its address. */
const pageWith = (environment: Environment, root: string, html: string): string =>
  html
    .replaceAll(
      / (href|action)="([^"]*)"/g,
      (_, name: string, address: string) => ` ${name}="${addressWith(environment, root, address, '&amp;')}"`,
    )
    .replaceAll(/<form method="get" action="[^"]*environment=\w+"[^>]*>/g, (form) => form + hiddenField(environment))

const hiddenField = (environment: Environment): string =>
  `<input type="hidden" name="environment" value="${environment}"/>`

const addressWith = (environment: Environment, root: string, address: string, and: string): string => {
  const isOfApp = address.startsWith(root) && /^(?:[/?#]|$)/.test(address.slice(root.length))
  if (!isOfApp || /[?&;]environment=/.test(address)) return address
  const [, before = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(address) ?? []
  return `${before}${before.includes('?') ? and : '?'}environment=${environment}${fragment}`
}
