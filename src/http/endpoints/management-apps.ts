import {
  type BuilderApp,
  deleteBuilderApp,
  listBuilderApps,
  transferBuilderApp,
} from '../../operations/apps/builder-apps.ts'
import { appListQuery, appTransfer, managedApp, managedAppList } from '../contract/management.ts'
import { appSlugParameter } from '../contract/management-scopes.ts'
import { jsonBody, queryOf } from '../endpoint.ts'
import { managed } from '../management.ts'
import { wireTime, wireTimeOrNull } from '../wire.ts'

const path = '/apps/:app'
const parameters = [appSlugParameter]

const wireApp = (app: BuilderApp) => ({
  ...app,
  createdAt: wireTime(app.createdAt),
  deletedAt: wireTimeOrNull(app.deletedAt),
})

export const readApps = managed({
  method: 'GET',
  path: '/apps',
  right: 'apps:read',
  query: queryOf(appListQuery),
  answers: { 200: managedAppList },
  errors: ['record_not_found'],
  id: 'listAppsOfUser',
  summary: 'List the apps of a user',
  description: 'Those that belong to the user, by slug, in one page. Deleted ones are left out.',
  run: async (door, _, { query }) => ({
    data: (await listBuilderApps(door.platform, query.ownerExternalId)).map(wireApp),
    nextCursor: null,
  }),
})

export const transferOneApp = managed({
  method: 'POST',
  path: `${path}/transfer`,
  right: 'apps:write',
  body: jsonBody(appTransfer),
  answers: { 200: managedApp },
  errors: ['record_not_found', 'operator_protected', 'quota_exceeded'],
  id: 'transferApp',
  summary: 'Give an app to another user',
  description:
    'Secrets, tokens and grants stay. The previous owner may still know the secrets. Repeated, it changes nothing.',
  parameters,
  run: async (door, call, { actor, path: { app: slug = '' }, body }) =>
    wireApp(await transferBuilderApp(door.platform, call, actor, { slug, toExternalId: body.toExternalId })),
})

export const deleteOneApp = managed({
  method: 'DELETE',
  path,
  right: 'apps:write',
  answers: { 200: managedApp },
  errors: ['record_not_found', 'operator_protected'],
  id: 'deleteApp',
  summary: 'Delete an app',
  description: 'Ends all that was issued for it at once. An operator can bring it back for 7 days.',
  parameters,
  run: async (door, call, { actor, path: { app: slug = '' } }) =>
    wireApp(await deleteBuilderApp(door.platform, call, actor, slug)),
})
