/** The operator's own scopes in the management API. */
import { Type } from '@sinclair/typebox'
import { ownScopeUses } from '../../domain/scope.ts'
import type { PathParameter } from './details.ts'
import { count, flag, model, nextCursor, nullableTime, oneOf, recordId, text, time } from './fields.ts'

export const scopeParameter: PathParameter = {
  name: 'name',
  description: 'Name of the scope: area:verb.',
  example: 'orders:read',
}
export const appSlugParameter: PathParameter = { name: 'app', description: 'Slug of the app.', example: 'newsletter' }

const usableBy = oneOf(ownScopeUses, 'Whose tokens can have it: those of apps, of users, or both.', 'user')
const words = text('What it allows, as consent pages say it.', 'List your orders')

export const scopeStatement = model('ScopeStatement', 'What is said of the scope, for ever.', {
  for: usableBy,
  text: words,
  restricted: Type.Optional(
    flag(
      'Whether an app can register it only after it was given to that app; true if it is missing, except for users alone.',
      false,
    ),
  ),
})

export const managedScope = model('ManagedScope', 'The scope.', {
  name: text('Name: area:verb.', 'orders:read'),
  for: usableBy,
  text: words,
  restricted: flag('Whether an app can register it only after it was given to that app.', false),
  createdAt: time('When it was added.'),
  retiredAt: nullableTime('When it was retired.'),
})

export const managedScopeList = model('ManagedScopeList', 'A page of scopes.', {
  data: Type.Array(managedScope, { description: 'Scopes by name.' }),
  nextCursor,
})

export const retiredScope = model('RetiredScope', 'What lost the scope.', {
  scope: managedScope,
  apps: count('Apps that had registered it.', 2),
  installs: count('Installs that had it.', 3),
  grants: count('Grants that go on without it.', 5),
  endedGrants: count('Grants that had no other scope and have ended.', 1),
})

export const givenScopes = model('GivenScopes', 'The restricted scopes that the app may register.', {
  appId: recordId('app', 'ID of the app.'),
  app: text('Slug of the app.', 'newsletter'),
  given: Type.Array(text('Name of a scope.', 'orders:read'), { description: 'By name.' }),
})
