import { callOf } from '../../../http/call.ts'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../../domain/errors.ts'
import { type VersionStatus, versionStatuses } from '../../../domain/version.ts'
import type { Door } from '../../../http/door.ts'
import { ownsActiveApp } from '../../../operations/apps/app-record.ts'
import { artifactUse } from '../../../operations/artifacts/store-artifact.ts'
import { findVersion } from '../../../operations/versions/version-record.ts'
import { listRollbacks, listVersionSummaries } from '../../../operations/versions/lists.ts'
import { moveVersion, type SeenVersion } from '../../../operations/versions/move-version.ts'
import { artifactDownload, readSeen } from '../../version.ts'
import { formFields, forms } from '../../old-forms.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { alreadyDone } from '../already-done.tsx'
import { listingOf, olderPath } from '../../listing.ts'
import { changeOnceBy, ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { RollbacksPage } from './rollbacks-page.tsx'
import { VersionPage } from './version-page.tsx'
import { VersionsPage } from './versions-page.tsx'

const notices = {
  submitted: 'The version is submitted. An operator reviews it next.',
  withdrawn: 'The version is withdrawn and a draft again.',
} as const

/** What a developer was shown of a version when they decided. */
const seenVersion = formFields({ seen: Type.String() })

/** Versions, the review that their developer asks for, and the ledger of rollbacks. */
export const versionRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get('/console/:slug/versions', async ({ request, params: { slug } }) => await showList(door, request, slug))
    .get('/console/:slug/rollbacks', async ({ request, params: { slug } }) => await showLedger(door, request, slug))
    .get(
      '/console/:slug/versions/:version',
      async ({ request, params: { slug, version } }) => await show(door, request, slug, version, null),
    )
    .get('/console/:slug/versions/:version/artifact', async ({ request, params: { slug, version } }) => {
      const { app } = await ownAppOf(door, request, slug)
      return await artifactDownload(door, callOf(request), await findVersion(door.platform, app, version))
    })
    .post(
      '/console/:slug/versions/:version/submit',
      async ({ request, params: { slug, version }, body: { seen } }) =>
        await move(door, request, slug, { version, step: 'submit', seen: readSeen(seen) }),
      { body: seenVersion },
    )
    .post(
      '/console/:slug/versions/:version/withdraw',
      async ({ request, params: { slug, version }, body: { seen } }) =>
        await move(door, request, slug, { version, step: 'withdraw', seen: readSeen(seen) }),
      { body: seenVersion },
    )

const showList = async (door: Door, request: Request, slug: string): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const status = statusOf(request)
  const listing = listingOf('versions', request)
  const { data, nextCursor } = await listVersionSummaries(door.platform, app.id, status, listing)
  const older = olderPath(appPath(slug, 'versions'), 'versions', nextCursor, status === null ? {} : { status })
  const artifacts = await artifactUse(door.platform, app.id)
  return page(
    <VersionsPage visit={visit} app={app} versions={data} status={status} older={older} artifacts={artifacts} />,
  )
}

/** Empty, as the form sends it for all, and whatever is no status: all. */
const statusOf = (request: Request): VersionStatus | null => {
  const asked = new URL(request.url).searchParams.get('status')
  return versionStatuses.find((status) => status === asked) ?? null
}

const showLedger = async (door: Door, request: Request, slug: string): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const { data, nextCursor } = await listRollbacks(door.platform, app.id, listingOf('rollbacks', request))
  const older = olderPath(appPath(slug, 'rollbacks'), 'rollbacks', nextCursor)
  return page(<RollbacksPage visit={visit} app={app} rollbacks={data} older={older} />)
}

type Move = { readonly version: string; readonly step: 'submit' | 'withdraw'; readonly seen: SeenVersion }

const move = async (door: Door, request: Request, slug: string, { version, step, seen }: Move): Promise<Response> => {
  const { platform, trace, actor } = changeOnceBy(door, request, (userId) => ownsActiveApp(userId, slug))
  const outcome = await outcomeOf(moveVersion(platform, trace, actor, { slug, version, step, rejection: null, seen }))
  if (outcome.kind === 'done') return seeOther(`${appPath(slug, 'versions', version)}?done=${pastOf[step]}`)
  if (outcome.error.code !== 'idempotency_key_reused') return await show(door, request, slug, version, outcome.error)
  const { visit } = await ownAppOf(door, request, slug)
  return alreadyDone({
    visit,
    message: 'This form was sent before, and nothing was done a second time.',
    href: appPath(slug, 'versions', version),
    name: 'See the version as it now stands',
  })
}

const pastOf = { submit: 'submitted', withdraw: 'withdrawn' } as const

const show = async (
  door: Door,
  request: Request,
  slug: string,
  name: string,
  error: PlatformError | null,
): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const version = await findVersion(door.platform, app, name)
  const [live = null] = (await listVersionSummaries(door.platform, app.id, 'active', { limit: 1, cursor: null })).data
  const notice = noticeOf(door, request, notices)
  return page(
    <VersionPage visit={visit} app={app} version={version} liveId={live?.id ?? null} notice={notice} error={error} />,
    { refusal: error },
  )
}
