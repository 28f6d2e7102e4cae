import { Elysia } from 'elysia'
import { readAuthorizationParameters } from '../../domain/authorization-request.ts'
import type { Door } from '../../http/door.ts'
import { prepareConsent } from '../../operations/oauth/consent.ts'
import { appOrigins, page, seeOther } from '../page.ts'
import { findVisit } from '../visit.ts'
import { ConsentPage } from './consent-page.tsx'
import { authorizePath, signInPath } from './paths.ts'
import { requestErrorPage } from './request-error-page.tsx'
import { unansweredPage } from './unanswered-page.tsx'

/** The question: an app asks for access, and who is signed in sees to what. Changes nothing. */
export const askRoute = (door: Door) =>
  new Elysia().get(authorizePath, async ({ request }) => {
    try {
      return await ask(door, request)
    } catch (error) {
      return unansweredPage(door.platform.platformName, request, error)
    }
  })

const ask = async (door: Door, request: Request): Promise<Response> => {
  const visit = await findVisit(door, request)
  const parameters = readAuthorizationParameters(queryOf(request))
  const step = await prepareConsent(door.platform, visit?.session ?? null, parameters)
  if (step.kind === 'answer') return seeOther(step.redirectTo)
  if (step.kind === 'tell') return requestErrorPage(door.platform.platformName, request, step)
  if (step.kind === 'sign_in' || visit === null) return seeOther(signInPath(step.request))
  return page(<ConsentPage {...step} visit={visit} lifetimes={door.platform.lifetimes} />, { formTarget: appOrigins })
}

/** As it was sent: read as a URL it would end at the first `#`. */
const queryOf = ({ url }: Request): string => {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}
