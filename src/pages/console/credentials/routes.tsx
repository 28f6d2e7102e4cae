import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Environment } from '../../../domain/app.ts'
import type { PlatformError } from '../../../domain/errors.ts'
import type { Door } from '../../../http/door.ts'
import { ownsActiveApp } from '../../../operations/apps/app-record.ts'
import {
  createCredential,
  revokeCredential,
  rotateCredential,
} from '../../../operations/credentials/change-credentials.ts'
import {
  listEndedCredentials,
  listLiveCredentials,
  ownsCredential,
} from '../../../operations/credentials/list-credentials.ts'
import { formFields, forms } from '../../old-forms.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { alreadyDone } from '../already-done.tsx'
import { environmentField } from '../environment-field.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { changeBy, changeOnceBy, ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { CredentialsPage, type RefusedSecret } from './credentials-page.tsx'
import { EndedSecretsPage } from './ended-secrets-page.tsx'
import { NewSecretPage } from './new-secret-page.tsx'

const notices = {
  revoked: 'The secret is revoked. It and the app tokens that it minted have stopped working.',
} as const

const endedList = 'ended-secrets'

/** Client secrets. Revoking one is possible while the app is suspended, making one is not. */
export const credentialRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get('/console/:slug/credentials', async ({ request, params: { slug } }) => await show(door, request, slug, null))
    .get('/console/:slug/credentials/ended', async ({ request, params: { slug } }) => {
      const { visit, app } = await ownAppOf(door, request, slug)
      const { data, nextCursor } = await listEndedCredentials(door.platform, app.id, listingOf(endedList, request))
      const older = olderPath(appPath(slug, 'credentials', 'ended'), endedList, nextCursor)
      return page(<EndedSecretsPage visit={visit} app={app} secrets={data} older={older} />)
    })
    .post(
      '/console/:slug/credentials',
      async ({ request, params: { slug }, body: { environment, label } }) =>
        await create(door, request, slug, environment, label),
      { body: formFields({ environment: environmentField, label: Type.String() }) },
    )
    .post(
      '/console/:slug/credentials/rotate',
      async ({ request, params: { slug }, body: { environment, graceHours } }) =>
        await rotate(door, request, slug, environment, graceHours),
      { body: formFields({ environment: environmentField, graceHours: Type.String() }) },
    )
    .post(
      '/console/:slug/credentials/:id/revoke',
      async ({ request, params: { slug, id } }) => {
        const { platform, trace, actor } = changeBy(door, request, (userId) => ownsCredential(userId, slug, id))
        await revokeCredential(platform, trace, actor, id)
        return seeOther(`${appPath(slug, 'credentials')}?done=revoked`)
      },
      { body: formFields({}) },
    )

const create = async (
  door: Door,
  request: Request,
  slug: string,
  environment: Environment,
  label: string,
): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const { platform, trace, actor } = changeOnceBy(door, request, (userId) => ownsActiveApp(userId, slug))
  const input = { slug, environment, label: label === '' ? null : label }
  const outcome = await outcomeOf(createCredential(platform, trace, actor, input))
  return outcome.kind === 'done'
    ? page(<NewSecretPage visit={visit} app={app} created={outcome.value} oldEndsAt={null} />)
    : await refuseSecret(door, request, slug, { form: 'create', environment, value: label, error: outcome.error })
}

const rotate = async (
  door: Door,
  request: Request,
  slug: string,
  environment: Environment,
  hours: string,
): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const { platform, trace, actor } = changeOnceBy(door, request, (userId) => ownsActiveApp(userId, slug))
  const input = { clientId: app.clientIds[environment], graceHours: /^\d{1,3}$/.test(hours) ? Number(hours) : -1 }
  const outcome = await outcomeOf(rotateCredential(platform, trace, actor, input))
  if (outcome.kind === 'refused') {
    return await refuseSecret(door, request, slug, { form: 'rotate', environment, value: hours, error: outcome.error })
  }
  const created = outcome.value
  const live = (await listLiveCredentials(door.platform, app.clientIds))[environment]
  const oldEndsAt = live.find(({ id }) => id !== created.id)?.expiresAt ?? null
  return page(<NewSecretPage visit={visit} app={app} created={created} oldEndsAt={oldEndsAt} />)
}

/** A form that is sent twice mints nothing, and shows nothing: the secret was in the first answer alone. */
const refuseSecret = async (door: Door, request: Request, slug: string, refused: RefusedSecret): Promise<Response> => {
  if (!isSentTwice(refused.error)) return await show(door, request, slug, refused)
  const { visit } = await ownAppOf(door, request, slug)
  return alreadyDone({ visit, message: shownOnce, href: appPath(slug, 'credentials'), name: 'See the credentials' })
}

const isSentTwice = ({ code }: PlatformError): boolean => code === 'idempotency_key_reused'

const shownOnce =
  'This form was sent before, and nothing was done a second time. A secret is shown in the first answer alone: if you did ' +
  'not copy it there, revoke it and create another.'

const show = async (door: Door, request: Request, slug: string, refused: RefusedSecret | null): Promise<Response> => {
  const { visit, app } = await ownAppOf(door, request, slug)
  const secrets = await listLiveCredentials(door.platform, app.clientIds)
  const notice = noticeOf(door, request, notices)
  return page(<CredentialsPage visit={visit} app={app} secrets={secrets} notice={notice} refused={refused} />, {
    refusal: refused?.error ?? null,
  })
}
