import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../../domain/errors.ts'
import type { Door } from '../../../http/door.ts'
import { appOverview } from '../../../operations/apps/overview.ts'
import { ownsActiveApp } from '../../../operations/apps/app-record.ts'
import { renameApp } from '../../../operations/apps/change-app.ts'
import { formFields, forms } from '../../old-forms.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { changeBy, ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { OverviewPage } from './overview-page.tsx'

const notices = {
  app: 'Your app is registered. The list below leads to its first call.',
  name: 'The app has its new name.',
} as const

/** An app at a glance, and its name. */
export const overviewRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get('/console/:slug', async ({ request, params: { slug } }) => await show(door, request, slug, null))
    .post(
      '/console/:slug/name',
      async ({ request, params: { slug }, body: { name } }) => {
        const { platform, trace, actor } = changeBy(door, request, (userId) => ownsActiveApp(userId, slug))
        const outcome = await outcomeOf(renameApp(platform, trace, actor, { slug, name }))
        if (outcome.kind === 'done') return seeOther(`${appPath(slug)}?done=name`)
        return await show(door, request, slug, { name, error: outcome.error })
      },
      { body: formFields({ name: Type.String() }) },
    )

const show = async (
  door: Door,
  request: Request,
  slug: string,
  refused: { readonly name: string; readonly error: PlatformError } | null,
): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const overview = await appOverview(door.platform, app)
  const { name, error } = refused ?? { name: app.name, error: null }
  const notice = noticeOf(door, request, notices)
  return page(<OverviewPage visit={visit} app={app} overview={overview} notice={notice} name={name} error={error} />, {
    refusal: error,
  })
}
