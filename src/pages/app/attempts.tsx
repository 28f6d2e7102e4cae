import { attemptOutcomes } from '../../domain/webhook-delivery.ts'
import { visibleText } from '../../domain/text.ts'
import { webhookKinds } from '../../domain/webhook-event.ts'
import { badInput } from '../../operations/decide.ts'
import { type AttemptDetail, readAttempt } from '../../operations/webhooks/deliveries.ts'
import { readEndpoint } from '../../operations/webhooks/endpoints.ts'
import { CodeBlock, Facts, Time } from '../design/values.tsx'
import { choice, date, list, type ListValues } from '../list.ts'
import { page } from '../page.ts'
import { millisecondsInWords, readMoment } from '../words.ts'
import { OutcomeBadge } from '../endpoint-words.tsx'
import { AppPage, type AppPlace, inBoth, inEnvironment, pageOfApp } from './app-area.tsx'
import { endpointCrumb } from './webhooks.tsx'

const outcomeWords = {
  delivered: 'Delivered',
  refused: 'Other status',
  unanswered: 'No answer',
} as const

/** The page of an endpoint, with the attempts to deliver to it. */
export const endpointAttempts = inBoth(({ key, pattern }) =>
  list(key === 'console' ? 'webhook-attempts' : 'desk-webhook-attempts', pattern('webhooks/:id'), {
    outcome: choice(
      'Outcome',
      attemptOutcomes.map((value) => [value, outcomeWords[value]] as const),
    ),
    kind: choice(
      'Event',
      webhookKinds.map((value) => [value, value] as const),
    ),
    from: date('From (UTC)'),
    to: date('To (UTC)'),
  }),
)

const dayMs = 86_400_000

/** What the fields ask for. Both days are included. @throws invalid_request, naming the field */
export const attemptQuestion = ({ outcome, kind, from, to }: ListValues<typeof endpointAttempts.console.fields>) => {
  const since = dayOf(from, 'from')
  const last = dayOf(to, 'to')
  if (since !== null && last !== null && since > last) throw badInput('from', 'The first day is after the last day.')
  return { outcome, kind, since, until: last === null ? null : last + dayMs }
}

const dayOf = (text: string, param: string): number | null => {
  if (text === '') return null
  const moment = /^\d{4}-\d\d-\d\d$/.test(text) ? readMoment(text) : null
  if (moment === null) throw badInput(param, 'Write a day such as 2026-08-01.')
  return moment
}

/** One attempt: what was sent, and what came back. */
export const webhookAttemptRoutes = (place: AppPlace) =>
  pageOfApp(place, 'webhooks/:id/attempts/:attempt', async (found, params) => {
    const { platform } = found.visit.door
    const endpoint = await readEndpoint(platform, found.app.id, params.id)
    const at = inEnvironment(found, endpoint.environment)
    const attempt = await readAttempt(platform, endpoint.id, params.attempt)
    return page(
      <AppPage
        at={at}
        tab="webhooks"
        title="Webhook attempt"
        crumbs={[endpointCrumb(at, endpoint)]}
        badges={<OutcomeBadge attempt={attempt} />}
      >
        <Facts
          of={{
            Event: attempt.kind,
            'Event ID': <code>{attempt.eventId}</code>,
            Time: <Time at={attempt.at} />,
            Duration: millisecondsInWords(attempt.durationMs),
            ID: <code>{attempt.id}</code>,
          }}
        />
        <h2>Request</h2>
        <Sent attempt={attempt} />
        <h2>Response</h2>
        <Answered attempt={attempt} />
      </AppPage>,
    )
  })

/** No request is made without a secret to sign with, or if the host cannot be called. */
const notSent: ReadonlySet<AttemptDetail['error']> = new Set(['no_secret', 'address_refused', 'not_resolved'])

const Sent = ({ attempt: { url, sentHeaders, body, error } }: { readonly attempt: AttemptDetail }) => {
  if (url === null) return <p class="muted">An earlier release made this attempt and stored no request.</p>
  return (
    <>
      {notSent.has(error) ? <p class="muted">Nothing was sent.</p> : null}
      <CodeBlock id="request-head" label="Headers of the request" code={headText(`POST ${url}`, sentHeaders ?? {})} />
      {body === null ? (
        <p class="muted">The body is no longer stored.</p>
      ) : (
        <CodeBlock id="request-body" label="Body of the request" code={inLines(body)} />
      )}
    </>
  )
}

/** The receiver wrote the answer: invisible characters are shown as escapes. */
const Answered = ({ attempt: { status, answerHeaders, answer } }: { readonly attempt: AttemptDetail }) => {
  if (status === null) return <p class="muted">There was no answer.</p>
  const head = visibleText(headText(`Status ${status}`, answerHeaders ?? {}))
  return (
    <>
      <CodeBlock id="answer-head" label="Headers of the response" code={head} />
      {answer === '' ? (
        <p class="muted">The body was empty.</p>
      ) : (
        <CodeBlock id="answer-body" label="Body of the response" code={visibleText(inLines(answer))} />
      )}
      <p class="muted">
        JSON is shown in lines, whatever its spaces were. Only the first kilobyte of the body and the headers without
        cookies are stored. Long headers are shortened.
      </p>
    </>
  )
}

/** JSON with line breaks; any other text as it is. */
const inLines = (text: string): string => {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text // cut off, or no JSON
  }
}

const headText = (first: string, headers: Readonly<Record<string, string>>): string =>
  [first, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n')
