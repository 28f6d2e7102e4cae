import { type BuilderInstall, listBuilderInstalls, moveBuilderInstall } from '../../operations/installs/lists.ts'
import { installListQuery, installParameter, managedInstall, managedInstallList } from '../contract/management.ts'
import { ignoredBody, queryOf } from '../endpoint.ts'
import { managed } from '../management.ts'
import { pageRequest, wireCursor, wireTime } from '../wire.ts'

const wireInstall = (install: BuilderInstall) => ({
  ...install,
  createdAt: wireTime(install.createdAt),
  updatedAt: wireTime(install.updatedAt),
})

export const readInstalls = managed({
  method: 'GET',
  path: '/installs',
  right: 'installs:read',
  query: queryOf(installListQuery),
  answers: { 200: managedInstallList },
  id: 'listInstalls',
  summary: 'List installs',
  description: 'Installs of all apps, newest first.',
  run: async (door, _, { query }) => {
    const { approval = null, state = null, app = null, userExternalId = null } = query
    const asked = { approval, state, app, userExternalId }
    const page = await listBuilderInstalls(door.platform, asked, pageRequest('installs', query))
    return { data: page.data.map(wireInstall), nextCursor: wireCursor('installs', page.nextCursor) }
  },
})

const step = (name: 'approve' | 'reject' | 'deactivate', summary: string, description: string) =>
  managed({
    method: 'POST',
    path: `/installs/:id/${name}`,
    right: 'installs:write',
    answers: { 200: managedInstall },
    errors: ['record_not_found', 'version_not_eligible'],
    id: `${name}Install`,
    summary,
    description: `${description} Repeated, it changes nothing.`,
    parameters: [installParameter],
    body: ignoredBody,
    run: async (door, call, { actor, path: { id = '' } }) =>
      wireInstall(await moveBuilderInstall(door.platform, call, actor, { id, step: name })),
  })

export const approveInstall = step('approve', 'Approve an install', 'The app can work for the user at once.')
export const rejectInstall = step('reject', 'Reject an install', 'The user can install the app again.')
export const deactivateInstall = step('deactivate', 'Deactivate an install', 'Ends it for good.')
