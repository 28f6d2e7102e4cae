import { listAttempts, type ResendChoice, resendEvents } from '../../operations/webhooks/deliveries.ts'
import { ownsEndpoint, readEndpoint } from '../../operations/webhooks/endpoints.ts'
import { listRoutes, timeOf } from '../list.ts'
import { changed, routes } from '../change.tsx'
import { EnvironmentBadge } from '../design/badge.tsx'
import { Problem } from '../design/field.tsx'
import { FilterBar, isLong, noMatch, Pager } from '../design/list-tools.tsx'
import { formOf, optionalText, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { secretPage } from '../secret-page.tsx'
import { backTo } from '../query.ts'
import { noticesOf, StepLinks } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { AttemptTable, EndpointButton, endpointSteps, ResendForms } from './endpoint-parts.tsx'
import { attemptQuestion, endpointAttempts } from './attempts.tsx'
import { buttonNotices, endpointButtonRoutes, PingProblem } from '../endpoint-steps.tsx'
import { acting, addressIn, Allowed, appFor, AppPage, type AppPlace, inEnvironment, pageOfApp } from './app-area.tsx'
import { EndpointSecretPage } from './webhooks.tsx'
import { EndpointFacts, EndpointStatus } from '../endpoint-words.tsx'

const notices = {
  changed: 'The endpoint is saved.',
  ...buttonNotices,
  ...noticesOf(...endpointSteps),
} as const

const resendForm = formOf({ event: text, back: optionalText })
const resendSinceForm = formOf({ since: text })

type At = { readonly slug: string; readonly id: string }

/** One endpoint. Sending one of its forms again just repeats it. */
export const webhookEndpointRoutes = (place: AppPlace) => {
  const { by, pattern } = place
  const repeating = { by, effect: 'repeats something', show } as const
  return routes(() => [
    listRoutes(endpointAttempts[place.key], { by, show }),
    pageOfApp(place, 'webhooks/:id/secret', async (found, { id }) => {
      const endpoint = await readEndpoint(found.visit.door.platform, found.app.id, id)
      const at = inEnvironment(found, endpoint.environment)
      return secretPage(at.visit, (secret) => <EndpointSecretPage at={at} endpoint={endpoint} secret={secret} />)
    }),
    endpointButtonRoutes(pattern('webhooks/:id'), {
      by,
      show,
      find: (visit, at) => ({
        id: at.id,
        acting: (right) => acting(visit, ownsEndpoint(at, right)),
        page: endpointPath(visit, at),
      }),
    }),
    changed(pattern('webhooks/:id/resend'), {
      ...repeating,
      form: resendForm,
      act: async ({ visit, fields }, at) =>
        await resend(visit, at, { kind: 'one', eventId: fields.event }, fields.back),
    }),
    changed(pattern('webhooks/:id/resend-since'), {
      ...repeating,
      form: resendSinceForm,
      act: async ({ visit, fields: { since } }, at) =>
        await resend(visit, at, { kind: 'since', at: timeOf(since, 'since') }),
    }),
  ])
}

const endpointPath = (visit: Visit, { slug, id }: At): string => addressIn(visit, slug, 'webhooks', id)

/** Sends again what is chosen. `back` is the list of attempts that the form is in. */
const resend = async (visit: Visit, at: At, choice: ResendChoice, back?: string): Promise<Response> => {
  const { resent } = await acting(visit, ownsEndpoint(at, 'resendEvents')).do(resendEvents, { id: at.id, choice })
  return seeOther(backTo(endpointPath(visit, at), back, { done: resent > 0 ? 'resent' : 'none-resent' }))
}

const show = async (visit: Visit, { slug, id }: At): Promise<Response> => {
  const { platform } = visit.door
  const found = await appFor(visit, slug)
  const endpoint = await readEndpoint(platform, found.app.id, id)
  const at = inEnvironment(found, endpoint.environment)
  const asked = endpointAttempts[at.place.key].read(visit, { slug, id })
  const attempts = await asked.found(async (part) => listAttempts(platform, id, part, attemptQuestion(asked.values)))
  return page(
    <AppPage
      at={at}
      tab="webhooks"
      title="Webhook endpoint"
      badges={
        <>
          <EnvironmentBadge environment={endpoint.environment} />
          <EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />
        </>
      }
      notices={notices}
      actions={
        at.may('webhooks') ? (
          <a class="button" href={at.path('webhooks', endpoint.id, 'edit')}>
            Edit
          </a>
        ) : undefined
      }
    >
      <Problem error={attempts.refusal} />
      <PingProblem visit={visit} />
      <EndpointFacts endpoint={endpoint} />
      <h2>Test</h2>
      <EndpointButton at={at} endpoint={endpoint} step="ping" button="Send a ping">
        The ping is sent once, now. The answer appears below.
      </EndpointButton>
      <h2>Attempts</h2>
      <FilterBar of={asked} isShown={isLong(attempts)} />
      <AttemptTable
        at={at}
        endpoint={endpoint}
        attempts={attempts.rows}
        empty={noMatch(attempts, 'No deliveries in the last 30 days.')}
      />
      <Pager of={attempts} />
      <h2>Send again</h2>
      <ResendForms at={at} endpoint={endpoint} />
      <h2>Change</h2>
      <Allowed at={at} right="webhooks">
        {endpoint.status === 'enabled' ? null : (
          <EndpointButton at={at} endpoint={endpoint} step="enable" button="Enable">
            The waiting events are sent, the oldest first.
          </EndpointButton>
        )}
        <StepLinks visit={visit} steps={endpointSteps} of={endpoint} params={{ slug, id }} />
      </Allowed>
    </AppPage>,
    { refusal: attempts.refusal },
  )
}
