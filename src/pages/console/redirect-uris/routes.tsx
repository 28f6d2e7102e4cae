import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Door } from '../../../http/door.ts'
import { ownsApp } from '../../../operations/acting-as.ts'
import { ownsActiveApp } from '../../../operations/apps/app-record.ts'
import { addRedirectUri, listRedirectUris, removeRedirectUri } from '../../../operations/redirect-uris.ts'
import { formFields, forms } from '../../old-forms.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { alreadyDone } from '../already-done.tsx'
import { environmentField } from '../environment-field.ts'
import { changeBy, changeOnceBy, ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { RedirectUrisPage, type RefusedUri } from './redirect-uris-page.tsx'

const notices = {
  'uri-added': 'The redirect URI is registered and works from now on.',
  'uri-removed': 'The redirect URI is removed and refused from now on.',
} as const

const uriForm = formFields({ environment: environmentField, uri: Type.String() })
type UriForm = Pick<RefusedUri, 'environment' | 'uri'>

/** Where users come back to. Taking one away is possible while the app is suspended, adding one is not. */
export const redirectUriRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get('/console/:slug/redirect-uris', async ({ request, params: { slug } }) => await show(door, request, slug, null))
    .post(
      '/console/:slug/redirect-uris',
      async ({ request, params: { slug }, body }) => await add(door, request, slug, body),
      { body: uriForm },
    )
    .post(
      '/console/:slug/redirect-uris/remove',
      async ({ request, params: { slug }, body: { environment, uri } }) => {
        const { platform, trace, actor } = changeBy(door, request, (userId) => ownsApp(userId, slug))
        await removeRedirectUri(platform, trace, actor, { slug, environment, uri })
        return seeOther(`${appPath(slug, 'redirect-uris')}?done=uri-removed`)
      },
      { body: uriForm },
    )

const add = async (door: Door, request: Request, slug: string, { environment, uri }: UriForm): Promise<Response> => {
  const { platform, trace, actor } = changeOnceBy(door, request, (userId) => ownsActiveApp(userId, slug))
  // A space before or after it comes from copying; no redirect URI has one.
  const outcome = await outcomeOf(addRedirectUri(platform, trace, actor, { slug, environment, uri: uri.trim() }))
  if (outcome.kind === 'done') return seeOther(`${appPath(slug, 'redirect-uris')}?done=uri-added`)
  if (outcome.error.code !== 'idempotency_key_reused') {
    return await show(door, request, slug, { environment, uri, error: outcome.error })
  }
  const { visit } = await ownAppOf(door, request, slug)
  return alreadyDone({
    visit,
    message: sentBefore,
    href: appPath(slug, 'redirect-uris'),
    name: 'See the redirect URIs',
  })
}

const sentBefore = 'This form was sent before, and nothing was done a second time.'

const show = async (door: Door, request: Request, slug: string, refused: RefusedUri | null): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const { redirectUris } = await listRedirectUris(door.platform, slug)
  const notice = noticeOf(door, request, notices)
  return page(
    <RedirectUrisPage visit={visit} app={app} redirectUris={redirectUris} notice={notice} refused={refused} />,
    { refusal: refused?.error ?? null },
  )
}
