import { Elysia } from 'elysia'
import { type PlatformError, refuse } from '../../../domain/errors.ts'
import type { OperatorStep } from '../../../domain/install.ts'
import type { Door } from '../../../http/door.ts'
import { listDecidedInstalls, listPendingInstalls } from '../../../operations/installs/lists.ts'
import { moveInstall } from '../../../operations/installs/move-install.ts'
import { formFields, forms } from '../../old-forms.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { operatorOnly, visitOf } from '../../visit.ts'
import { changeBy } from '../operator.ts'
import { deskPaths } from '../paths.ts'
import { queryOf } from '../query.ts'
import { InstallsPage } from './installs-page.tsx'

const notices = {
  approve: 'The install is approved. The app works for this user from now on.',
  reject: 'The install is rejected.',
  deactivate: 'The install is deactivated. The app sees nothing of this user any more.',
} as const satisfies Record<OperatorStep, string>

/** Installs that wait for a decision, those that were decided, and the decisions. */
export const installRoutes = (door: Door) =>
  new Elysia()
    .use(operatorOnly(door))
    .use(forms(door))
    .get(deskPaths.installs, async ({ request }) => await showInstalls(door, request, null))
    .post(
      `${deskPaths.installs}/:id/approve`,
      async ({ request, params }) => await move(door, request, params.id, 'approve'),
      noFields,
    )
    .post(
      `${deskPaths.installs}/:id/reject`,
      async ({ request, params }) => await move(door, request, params.id, 'reject'),
      noFields,
    )
    .post(
      `${deskPaths.installs}/:id/deactivate`,
      async ({ request, params }) => await move(door, request, params.id, 'deactivate'),
      noFields,
    )

const noFields = { body: formFields({}) }

const move = async (door: Door, request: Request, id: string, step: OperatorStep): Promise<Response> => {
  const { platform, trace, actor } = changeBy(door, request)
  const outcome = await outcomeOf(moveInstall(platform, trace, actor, { id, step }))
  if (outcome.kind === 'done') return seeOther(`${deskPaths.installs}?done=${step}`)
  return await showInstalls(door, request, refuse('version_not_eligible', { message: tooLate }))
}

const tooLate = 'This install has been decided already, or is no longer there. Nothing was changed.'

const showInstalls = async (door: Door, request: Request, error: PlatformError | null): Promise<Response> => {
  const { platform } = door
  const app = queryOf(request, 'app')
  const pending = await listPendingInstalls(platform, listingOf('desk-pending', request, 'waiting'))
  const slug = app === '' ? null : app
  const found = await outcomeOf(listDecidedInstalls(platform, slug, listingOf('desk-decided', request, 'decided')))
  const decided = found.kind === 'done' ? found.value : { data: [], nextCursor: null }
  const refusal = found.kind === 'done' ? error : found.error
  const query = app === '' ? {} : { app }
  const { installs: path } = deskPaths
  return page(
    <InstallsPage
      visit={visitOf(request)}
      notice={noticeOf(door, request, notices)}
      error={refusal}
      app={app}
      pending={{
        installs: pending.data,
        moreHref: olderPath(path, 'desk-pending', pending.nextCursor, query, 'waiting'),
      }}
      decided={{
        installs: decided.data,
        moreHref: olderPath(path, 'desk-decided', decided.nextCursor, query, 'decided'),
      }}
    />,
    { refusal },
  )
}
