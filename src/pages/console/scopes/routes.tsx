import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../../domain/errors.ts'
import type { Door } from '../../../http/door.ts'
import { changeAppScopes } from '../../../operations/apps/change-app.ts'
import { ownsActiveApp } from '../../../operations/apps/app-record.ts'
import { formFields, forms } from '../../old-forms.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { changeBy, ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { ScopesPage } from './scopes-page.tsx'

const notices = { scopes: 'The scopes are saved.' } as const

/** What the app may ask for. */
export const scopeRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door, { lists: ['scopes'] }))
    .get('/console/:slug/scopes', async ({ request, params: { slug } }) => await show(door, request, slug, null))
    .post(
      '/console/:slug/scopes',
      async ({ request, params: { slug }, body: { scopes } }) => {
        const { platform, trace, actor } = changeBy(door, request, (userId) => ownsActiveApp(userId, slug))
        const change = changeAppScopes(platform, trace, actor, { slug, scopes: scopes.join(' ') })
        const outcome = await outcomeOf(change)
        if (outcome.kind === 'done') return seeOther(`${appPath(slug, 'scopes')}?done=scopes`)
        return await show(door, request, slug, { scopes, error: outcome.error })
      },
      { body: formFields({ scopes: Type.Array(Type.String()) }) },
    )

const show = async (
  door: Door,
  request: Request,
  slug: string,
  refused: { readonly scopes: readonly string[]; readonly error: PlatformError } | null,
): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const { scopes, error } = refused ?? { scopes: app.scopes, error: null }
  const notice = noticeOf(door, request, notices)
  return page(<ScopesPage visit={visit} app={app} chosen={scopes} notice={notice} error={error} />, { refusal: error })
}
