import { refuse } from '../../domain/errors.ts'
import {
  addScope,
  findScope,
  type GivenScopes,
  giveScope,
  listScopes,
  type OwnScopeRecord,
  requireKnown,
  retireScope,
  takeScope,
} from '../../operations/scopes/scopes.ts'
import {
  appSlugParameter,
  givenScopes,
  managedScope,
  managedScopeList,
  retiredScope,
  scopeParameter,
  scopeStatement,
} from '../contract/management-scopes.ts'
import { listQuery } from '../contract/management.ts'
import { ignoredBody, jsonBody, queryOf } from '../endpoint.ts'
import { managed } from '../management.ts'
import { pageRequest, wireCursor, wireTime, wireTimeOrNull } from '../wire.ts'

const path = '/scopes/:name'
const parameters = [scopeParameter]

const wireScope = (scope: OwnScopeRecord) => ({
  ...scope,
  createdAt: wireTime(scope.createdAt),
  retiredAt: wireTimeOrNull(scope.retiredAt),
})

export const readScopes = managed({
  method: 'GET',
  path: '/scopes',
  right: 'scopes:read',
  query: queryOf(listQuery),
  answers: { 200: managedScopeList },
  id: 'listScopes',
  summary: "List the operator's own scopes",
  description: 'By name, also retired ones, without the built-in ones.',
  run: async (door, _, { query }) => {
    const page = await listScopes(door.platform, pageRequest('own-scopes', query))
    return { data: page.data.map(wireScope), nextCursor: wireCursor('own-scopes', page.nextCursor) }
  },
})

export const readScope = managed({
  method: 'GET',
  path,
  right: 'scopes:read',
  answers: { 200: managedScope },
  errors: ['record_not_found'],
  id: 'getScope',
  summary: 'Read a scope',
  description: 'Also a retired one.',
  parameters,
  run: async (door, _, { path: { name = '' } }) => {
    const found = await findScope(door.platform, name)
    if (found === null) throw refuse('record_not_found', { param: 'name' })
    return wireScope(found)
  },
})

export const putScope = managed({
  method: 'PUT',
  path,
  right: 'scopes:write',
  body: jsonBody(scopeStatement),
  answers: { 200: managedScope, 201: managedScope },
  id: 'putScope',
  summary: 'Add a scope',
  description:
    'Its name, its text and who can have it never change: repeated with the same body it changes nothing (200), and with another one it is refused, as is the name of a retired scope.',
  parameters,
  run: async (door, call, { actor, path: { name = '' }, body }) => {
    const { for: usableBy, text, restricted = null } = body
    const input = { name, usableBy, text, isRestricted: restricted }
    const { scope, created } = await addScope(door.platform, call, actor, input)
    call.status = created ? 201 : 200
    return wireScope(scope)
  },
})

export const deleteScope = managed({
  method: 'DELETE',
  path,
  right: 'scopes:write',
  answers: { 200: retiredScope },
  errors: ['record_not_found'],
  id: 'retireScope',
  summary: 'Retire a scope',
  description: 'Apps, grants and live tokens lose it at once and for good, and grants without another scope end.',
  parameters,
  run: async (door, call, { actor, path: { name = '' } }) => {
    await requireKnown(door.platform, { name })
    const { scope, ...lost } = await retireScope(door.platform, call, actor, name)
    return { scope: wireScope(scope), ...lost }
  },
})

const wireGiven = ({ given, ...app }: GivenScopes) => ({ ...app, given: [...given] })

const ofApp = {
  path: `${path}/apps/:app`,
  right: 'scopes:write' as const,
  answers: { 200: givenScopes },
  errors: ['record_not_found' as const],
  parameters: [scopeParameter, appSlugParameter],
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
