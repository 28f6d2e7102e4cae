import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../../domain/errors.ts'
import type { Door } from '../../../http/door.ts'
import { ownsActiveApp } from '../../../operations/apps/app-record.ts'
import { addEndpoint } from '../../../operations/webhooks/add-endpoint.ts'
import { listEndpoints } from '../../../operations/webhooks/endpoints.ts'
import { formFields, forms } from '../../old-forms.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { alreadyDone } from '../already-done.tsx'
import { environmentField } from '../environment-field.ts'
import { changeOnceBy, ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { endpointRoutes } from './endpoint-routes.tsx'
import { EndpointSecretPage } from './endpoint-secret-page.tsx'
import { takeOutwardShare } from './outward-share.ts'
import { NewEndpointPage, type NewEndpointValues } from './new-endpoint-page.tsx'
import { WebhooksPage } from './webhooks-page.tsx'

const notices = { removed: 'The endpoint is removed; nothing more is sent to it.' } as const

/** Where the app is told what happens. */
export const webhookRoutes = (door: Door) =>
  new Elysia()
    .use(endpointRoutes(door))
    .use(signedIn(door))
    .use(forms(door, { lists: ['kinds'] }))
    .get('/console/:slug/webhooks', async ({ request, params: { slug } }) => {
      const { visit, app } = await ownAppOf(door, request, slug)
      const endpoints = await listEndpoints(door.platform, slug)
      const notice = noticeOf(door, request, notices)
      return page(<WebhooksPage visit={visit} app={app} endpoints={endpoints} notice={notice} />)
    })
    .get('/console/:slug/webhooks/new', async ({ request, params: { slug } }) => {
      const isLive = new URL(request.url).searchParams.get('environment') === 'production'
      const environment = isLive ? 'production' : 'development'
      return await ask(door, request, slug, { environment, url: '', kinds: [] }, null)
    })
    .post(
      '/console/:slug/webhooks',
      async ({ request, params: { slug }, body: { environment, url, kinds } }) =>
        await add(door, request, slug, { environment, url, kinds }),
      { body: formFields({ environment: environmentField, url: Type.String(), kinds: Type.Array(Type.String()) }) },
    )

const ask = async (
  door: Door,
  request: Request,
  slug: string,
  values: NewEndpointValues,
  error: PlatformError | null,
): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  return page(<NewEndpointPage visit={visit} app={app} values={values} error={error} />, { refusal: error })
}

/** Whose app it is, is looked at first: nobody else may have this server look up names. */
const add = async (door: Door, request: Request, slug: string, values: NewEndpointValues): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const { platform, trace, actor } = changeOnceBy(door, request, (userId) => ownsActiveApp(userId, slug))
  takeOutwardShare(door, request)
  const input = { ...values, slug, url: values.url.trim() }
  const outcome = await outcomeOf(addEndpoint(platform, trace, actor, input))
  if (outcome.kind === 'done') return page(<EndpointSecretPage visit={visit} app={app} made={outcome.value} />)
  if (outcome.error.code !== 'idempotency_key_reused') return await ask(door, request, slug, values, outcome.error)
  return alreadyDone({ visit, message: shownOnce, href: appPath(slug, 'webhooks'), name: 'See the webhooks' })
}

const shownOnce =
  'This form was sent before, and nothing was done a second time. A secret is shown in the first answer alone: if you did ' +
  'not copy it there, rotate it.'
