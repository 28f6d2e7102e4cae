import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Door } from '../../../http/door.ts'
import { listAttempts, pingEndpoint } from '../../../operations/webhooks/deliveries.ts'
import {
  ownsEndpoint,
  readEndpoint,
  removeEndpoint,
  setEndpointStatus,
} from '../../../operations/webhooks/endpoints.ts'
import { type ResendChoice, resendEvents } from '../../../operations/webhooks/resend-events.ts'
import { rotateWebhookSecret } from '../../../operations/webhooks/secrets.ts'
import { formFields, forms } from '../../old-forms.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { readMoment } from '../../words.ts'
import { signedIn } from '../../visit.ts'
import { alreadyDone } from '../already-done.tsx'
import { changeBy, changeOnceBy, ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { takeOutwardShare } from './outward-share.ts'
import type { RefusedChange } from './endpoint-forms.tsx'
import { EndpointPage } from './endpoint-page.tsx'
import { EndpointSecretPage } from './endpoint-secret-page.tsx'

const list = 'webhook-attempts'
const notices = {
  taken: 'The ping was taken.',
  resent: 'The events are on their way again, under the same IDs.',
  'none-resent': 'There was nothing to send again.',
  enabled: 'The endpoint is enabled, and what has waited for it is on its way.',
  disabled: 'The endpoint is disabled; nothing is sent to it.',
} as const

const problems = {
  'not-taken': 'The ping was not taken. The first attempt below says what came of it.',
} as const

type At = { readonly slug: string; readonly id: string }
const pathOf = ({ slug, id }: At): string => appPath(slug, 'webhooks', id)

/** One endpoint. Everything but the rotation may be sent again: it would only be done once more. */
export const endpointRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get('/console/:slug/webhooks/:id', async ({ request, params }) => await show(door, request, params, null))
    .post(
      '/console/:slug/webhooks/:id/ping',
      async ({ request, params }) => {
        const { platform, trace, actor } = ownChange(door, request, params)
        takeOutwardShare(door, request)
        const { delivered } = await pingEndpoint(platform, trace, actor, params.id)
        return seeOther(`${pathOf(params)}?done=${delivered ? 'taken' : 'not-taken'}`)
      },
      { body: formFields({}) },
    )
    .post(
      '/console/:slug/webhooks/:id/enable',
      async ({ request, params }) => await setStatus(door, request, params, 'enabled'),
      { body: formFields({}) },
    )
    .post(
      '/console/:slug/webhooks/:id/disable',
      async ({ request, params }) => await setStatus(door, request, params, 'disabled'),
      { body: formFields({}) },
    )
    .post(
      '/console/:slug/webhooks/:id/resend',
      async ({ request, params, body: { event } }) =>
        await resend(door, request, params, { kind: 'one', eventId: event }),
      { body: formFields({ event: Type.String() }) },
    )
    .post(
      '/console/:slug/webhooks/:id/resend-failed',
      async ({ request, params }) => await resend(door, request, params, { kind: 'failed' }),
      { body: formFields({}) },
    )
    .post(
      '/console/:slug/webhooks/:id/resend-since',
      async ({ request, params, body: { since } }) =>
        await resend(door, request, params, { kind: 'since', at: readMoment(since.trim()) ?? 0 }, since),
      { body: formFields({ since: Type.String() }) },
    )
    .post(
      '/console/:slug/webhooks/:id/rotate',
      async ({ request, params, body: { graceHours } }) => await rotate(door, request, params, graceHours),
      { body: formFields({ graceHours: Type.String() }) },
    )
    .post(
      '/console/:slug/webhooks/:id/remove',
      async ({ request, params }) => {
        const { platform, trace, actor } = ownChange(door, request, params)
        await removeEndpoint(platform, trace, actor, params.id)
        return seeOther(`${appPath(params.slug, 'webhooks')}?done=removed`)
      },
      { body: formFields({}) },
    )

const ownChange = (door: Door, request: Request, { slug, id }: At) =>
  changeBy(door, request, (userId) => ownsEndpoint(userId, slug, id))

const setStatus = async (door: Door, request: Request, at: At, status: 'enabled' | 'disabled'): Promise<Response> => {
  const { platform, trace, actor } = ownChange(door, request, at)
  await setEndpointStatus(platform, trace, actor, { id: at.id, status })
  return seeOther(`${pathOf(at)}?done=${status}`)
}

const resend = async (door: Door, request: Request, at: At, choice: ResendChoice, typed = ''): Promise<Response> => {
  const { platform, trace, actor } = ownChange(door, request, at)
  const outcome = await outcomeOf(resendEvents(platform, trace, actor, { id: at.id, choice }))
  if (outcome.kind === 'done')
    return seeOther(`${pathOf(at)}?done=${outcome.value.resent > 0 ? 'resent' : 'none-resent'}`)
  return await show(door, request, at, { form: 'since', value: typed, error: outcome.error })
}

const rotate = async (door: Door, request: Request, at: At, hours: string): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, at.slug)
  const { platform, trace, actor } = changeOnceBy(door, request, (userId) => ownsEndpoint(userId, at.slug, at.id))
  const input = { id: at.id, graceHours: /^\d{1,3}$/.test(hours) ? Number(hours) : -1 }
  const outcome = await outcomeOf(rotateWebhookSecret(platform, trace, actor, input))
  if (outcome.kind === 'done') return page(<EndpointSecretPage visit={visit} app={app} made={outcome.value} />)
  if (outcome.error.code !== 'idempotency_key_reused') {
    return await show(door, request, at, { form: 'rotate', value: hours, error: outcome.error })
  }
  return alreadyDone({ visit, message: shownOnce, href: pathOf(at), name: 'See the endpoint' })
}

const shownOnce =
  'This form was sent before, and nothing was done a second time. A secret is shown in the first answer alone: if you did ' +
  'not copy it there, rotate it again.'

const show = async (door: Door, request: Request, at: At, refused: RefusedChange | null): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, at.slug)
  const endpoint = await readEndpoint(door.platform, app.id, at.id)
  const { data, nextCursor } = await listAttempts(door.platform, at.id, listingOf(list, request))
  const older = olderPath(pathOf(at), list, nextCursor)
  const notice = noticeOf(door, request, notices)
  return page(
    <EndpointPage
      visit={visit}
      app={app}
      endpoint={endpoint}
      attempts={data}
      older={older}
      notice={notice}
      problem={noticeOf(door, request, problems)}
      refused={refused}
    />,
    { refusal: refused?.error ?? null },
  )
}
