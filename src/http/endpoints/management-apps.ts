import { deleteBuilderApp, listBuilderApps, transferBuilderApp } from '../../operations/apps/builder-apps.ts'
import { wireRecord } from '../../domain/timestamp.ts'
import * as contract from '../contract/management.ts'
import { ignoredBody, jsonBody, queryOf } from '../endpoint.ts'
import { managed } from '../management.ts'
import { refuse } from '../../domain/errors.ts'
import {
  addScope,
  findScope,
  type GivenScopes,
  giveScope,
  listScopes,
  requireKnown,
  retireScope,
  takeScope,
} from '../../operations/scopes/scopes.ts'
import { wirePage } from '../wire.ts'

const path = '/apps/:app'
const parameters = [contract.appSlugParameter]

export const readApps = managed({
  method: 'GET',
  path: '/apps',
  right: 'apps:read',
  query: queryOf(contract.appListQuery),
  answers: { 200: contract.managedAppList },
  errors: ['record_not_found'],
  id: 'listAppsOfUser',
  summary: 'List the apps of a user',
  description: 'Those that belong to the user, by slug, in one page. Deleted ones are left out.',
  run: async (door, _, { query }) => ({
    data: (await listBuilderApps(door.platform, query.ownerExternalId)).map(wireRecord),
    nextCursor: null,
  }),
})

export const transferOneApp = managed({
  method: 'POST',
  path: `${path}/transfer`,
  right: 'apps:write',
  body: jsonBody(contract.appTransfer),
  answers: { 200: contract.managedApp },
  errors: ['record_not_found', 'operator_protected', 'quota_exceeded'],
  id: 'transferApp',
  summary: 'Give an app to another user',
  description:
    'Secrets, tokens and grants stay. The previous owner may still know the secrets. Repeated, it changes nothing.',
  parameters,
  run: async (door, call, { actor, path: { app: slug = '' }, body }) =>
    wireRecord(await transferBuilderApp(door.platform, call, actor, { slug, toExternalId: body.toExternalId })),
})

export const deleteOneApp = managed({
  method: 'DELETE',
  path,
  right: 'apps:write',
  answers: { 200: contract.managedApp },
  errors: ['record_not_found', 'operator_protected'],
  id: 'deleteApp',
  summary: 'Delete an app',
  description: 'Ends all that was issued for it at once. An operator can bring it back for 7 days.',
  parameters,
  run: async (door, call, { actor, path: { app: slug = '' } }) =>
    wireRecord(await deleteBuilderApp(door.platform, call, actor, slug)),
})

// Scopes of the operator, and the apps that a restricted one is given to.

const scopePath = '/scopes/:name'

export const readScopes = managed({
  method: 'GET',
  path: '/scopes',
  right: 'scopes:read',
  query: queryOf(contract.listQuery),
  answers: { 200: contract.managedScopeList },
  id: 'listScopes',
  summary: "List the operator's own scopes",
  description: 'By name, also retired ones, without the built-in ones.',
  run: async (door, _, { query }) =>
    await wirePage('own-scopes', query, async (asked) => await listScopes(door.platform, asked), wireRecord),
})

export const readScope = managed({
  method: 'GET',
  path: scopePath,
  right: 'scopes:read',
  answers: { 200: contract.managedScope },
  errors: ['record_not_found'],
  id: 'getScope',
  summary: 'Read a scope',
  description: 'Also a retired one.',
  parameters: [contract.scopeParameter],
  run: async (door, _, { path: { name = '' } }) => {
    const found = await findScope(door.platform, name)
    if (found === null) throw refuse('record_not_found', { param: 'name' })
    return wireRecord(found)
  },
})

export const putScope = managed({
  method: 'PUT',
  path: scopePath,
  right: 'scopes:write',
  body: jsonBody(contract.scopeStatement),
  answers: { 200: contract.managedScope, 201: contract.managedScope },
  id: 'putScope',
  summary: 'Add a scope',
  description:
    'Its name, its text and who can have it never change: repeated with the same body it changes nothing (200), and with another one it is refused, as is the name of a retired scope.',
  parameters: [contract.scopeParameter],
  run: async (door, call, { actor, path: { name = '' }, body }) => {
    const { for: usableBy, text, restricted = null } = body
    const input = { name, usableBy, text, isRestricted: restricted }
    const { scope, created } = await addScope(door.platform, call, actor, input)
    call.status = created ? 201 : 200
    return wireRecord(scope)
  },
})

export const deleteScope = managed({
  method: 'DELETE',
  path: scopePath,
  right: 'scopes:write',
  answers: { 200: contract.retiredScope },
  errors: ['record_not_found'],
  id: 'retireScope',
  summary: 'Retire a scope',
  description: 'Apps, grants and live tokens lose it at once and for good, and grants without another scope end.',
  parameters: [contract.scopeParameter],
  run: async (door, call, { actor, path: { name = '' } }) => {
    await requireKnown(door.platform, { name })
    const { scope, ...lost } = await retireScope(door.platform, call, actor, name)
    return { scope: wireRecord(scope), ...lost }
  },
})

const wireGiven = ({ given, ...app }: GivenScopes) => ({ ...app, given: [...given] })

const ofApp = {
  path: `${scopePath}/apps/:app`,
  right: 'scopes:write' as const,
  answers: { 200: contract.givenScopes },
  errors: ['record_not_found' as const],
  parameters: [contract.scopeParameter, contract.appSlugParameter],
}

export const giveScopeToApp = managed({
  ...ofApp,
  method: 'PUT',
  body: ignoredBody,
  id: 'giveScope',
  summary: 'Let an app register a restricted scope',
  description: 'The app has it once it has registered it.',
  run: async (door, call, { actor, path: { name = '', app: slug = '' } }) => {
    await requireKnown(door.platform, { name, slug })
    return wireGiven(await giveScope(door.platform, call, actor, { name, slug }))
  },
})

export const takeScopeFromApp = managed({
  ...ofApp,
  method: 'DELETE',
  id: 'takeScope',
  summary: 'Take a restricted scope back from an app',
  description: 'The app, its grants and its live tokens lose it at once.',
  run: async (door, call, { actor, path: { name = '', app: slug = '' } }) => {
    await requireKnown(door.platform, { name, slug })
    return wireGiven(await takeScope(door.platform, call, actor, { name, slug }))
  },
})
