import { Type } from '@sinclair/typebox'
import { appStatuses, environments } from '../../domain/app.ts'
import { installApprovals, installStates } from '../../domain/install.ts'
import { resourceKinds, resourceStatuses } from '../../domain/resource.ts'
import { ownScopeUses } from '../../domain/scope.ts'
import { userStatuses } from '../../domain/user.ts'
import type { PathParameter } from './details.ts'
import {
  count,
  flag,
  integer,
  jsonObject,
  model,
  pageModel,
  nullable,
  nullableText,
  nullableTime,
  oneOf,
  pageQuery,
  recordId,
  scope,
  text,
  time,
} from './fields.ts'

export const externalIdParameter: PathParameter = {
  name: 'externalId',
  description: "The builder's own ID of the record: 1 to 128 visible ASCII characters, percent-encoded.",
  example: '42',
}
export const kindParameter: PathParameter = { name: 'kind', description: 'site or store.', example: 'site' }
export const installParameter: PathParameter = {
  name: 'id',
  description: 'ID of the install.',
  example: 'ins_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d',
}

const email = text('Email address; unique on this server.', 'ada@example.com')
const personName = text('Name of the person.', 'Ada Example')
const userStatus = oneOf(userStatuses, 'Whether the person can sign in and their tokens work.', 'active')
const externalId = nullableText("The builder's own ID; null for a record that the builder did not send.", '42')

export const userStatement = model('UserStatement', 'A user, as the builder knows them.', {
  email,
  name: personName,
  pictureUrl: Type.Optional(
    nullableText('https: URL of a picture; none if it is missing.', 'https://example.com/ada.png'),
  ),
  status: Type.Optional(userStatus),
})

/** One line of an import of users. */
export const userLine = model('UserLine', 'One line of the body.', {
  externalId: text("The builder's own ID of the user.", '42'),
  ...userStatement.properties,
})
export const importedUsers = model('ImportedUsers', 'What has changed.', {
  created: count('Users who are new.', 2),
  updated: count('Those who have changed.', 1),
  unchanged: count('Those whose line says what is stored.', 0),
})

export const managedUser = model('ManagedUser', 'The user.', {
  id: recordId('usr', 'ID of the user on this server.'),
  externalId,
  email,
  name: personName,
  pictureUrl: nullableText('https: URL of a picture.', 'https://example.com/ada.png'),
  status: userStatus,
  isOperator: flag('Operators cannot be changed with a service key.', false),
  hasPassword: flag('Whether the user can sign in with a password.', false),
  createdAt: time('When the user was created here.'),
  updatedAt: time('When the user last changed here.'),
})

export const managedUserList = pageModel('ManagedUserList', 'A page of users.', managedUser, 'Users, oldest first.')

export const userListQuery = Type.Object({
  email: Type.Optional(text('Only the user of this address.', 'ada@example.com')),
  status: Type.Optional(userStatus),
  ...pageQuery,
})

export const endAccessRequest = model('EndAccessRequest', 'What to end.', {
  only: Type.Optional(
    Type.Literal('sessions', { description: 'Ends sessions and leaves grants to apps.', examples: ['sessions'] }),
  ),
})
export const endedAccess = model('EndedAccess', 'How much still worked when it was ended.', {
  sessions: count('Sessions.', 2),
  grants: Type.Optional(count('Grants to apps.', 3)),
  userTokens: Type.Optional(count('Access tokens of those grants.', 3)),
  authorizationCodes: Type.Optional(count('Unused codes of those grants.', 0)),
  appTokens: Type.Optional(count('App tokens; never any of a user.', 0)),
  embeddedSessions: Type.Optional(count('Sessions of apps in frames.', 1)),
  installSessionCodes: Type.Optional(count('Unused codes of such sessions.', 0)),
})

const resourceKind = oneOf(resourceKinds, 'Website or store.')
const resourceStatus = oneOf(resourceStatuses, 'Whether visitors can see it.', 'published')
const resourceName = text('Name.', 'My bakery')
const slug = text('Short name, unique per owner and kind.', 'my-bakery')

export const resourceStatement = model('ResourceStatement', 'A website or store, as the builder knows it.', {
  ownerExternalId: text("The builder's own ID of the owner.", '42'),
  name: resourceName,
  slug,
  status: resourceStatus,
  createdAt: Type.Optional(time('When it was created; now if it is missing.')),
  updatedAt: Type.Optional(time('When it last changed; now if it is missing.')),
})

/** One line of an import, as the document has it: lines are read by `domain/resource.ts`. */
export const resourceLine = model('ResourceLine', 'One line of the body.', {
  kind: resourceKind,
  externalId: text("The builder's own ID of the website or store.", '7'),
  ...resourceStatement.properties,
  publishedAt: Type.Optional(time('When it was published; now if it is missing and the status says so.')),
})

export const managedResource = model('ManagedResource', 'The website or store.', {
  kind: resourceKind,
  externalId,
  ownerExternalId: nullableText("The builder's own ID of the owner.", '42'),
  name: resourceName,
  slug,
  status: resourceStatus,
  createdAt: time('When it was created.'),
  updatedAt: time('When it last changed.'),
  publishedAt: nullableTime('When it was published, if it was.'),
})

export const managedResourceList = pageModel(
  'ManagedResourceList',
  'A page of websites or stores.',
  managedResource,
  'Websites or stores, oldest first.',
)
export const resourceListQuery = Type.Object({
  ownerExternalId: Type.Optional(text("Only those of this owner, by the builder's own ID.", '42')),
  slug: Type.Optional(text('Only those with this slug.', 'my-bakery')),
  status: Type.Optional(resourceStatus),
  ...pageQuery,
})
export const listQuery = Type.Object({ ...pageQuery })
export const removedResource = model('RemovedResource', 'What the removal ended.', {
  installs: count('Installs on it that ended.', 1),
})

export const importQuery = Type.Object({
  prune: Type.Optional(
    oneOf(['true', 'false'], 'Whether websites and stores with an external ID that no line is about are removed.'),
  ),
})
export const importedResources = model('ImportedResources', 'What has changed.', {
  created: count('Websites and stores that are new.', 2),
  updated: count('Those that have changed.', 1),
  removed: count('Those that were removed.', 0),
  installs: count('Installs that ended.', 0),
})

export const managedInstall = model('ManagedInstall', 'The install.', {
  id: recordId('ins', 'ID of the install.'),
  appId: recordId('app', 'The installed app.'),
  app: text('Short name of the app.', 'newsletter'),
  appName: text('Name of the app.', 'Newsletter'),
  environment: oneOf(environments, 'Production, or development for the developer of the app alone.', 'production'),
  userExternalId: nullableText("The builder's own ID of the owner.", '42'),
  resourceKind,
  resourceExternalId: nullableText("The builder's own ID of the website or store.", '7'),
  scope,
  approval: oneOf(installApprovals, 'The decision about it.', 'approved'),
  state: oneOf(installStates, 'Whether it is in use.', 'active'),
  createdAt: time('When it was asked for.'),
  updatedAt: time('When it last changed.'),
})
export const managedInstallList = pageModel(
  'ManagedInstallList',
  'A page of installs.',
  managedInstall,
  'Installs, newest first.',
)
export const installListQuery = Type.Object({
  approval: Type.Optional(oneOf(installApprovals, 'Only those with this decision.', 'pending')),
  state: Type.Optional(oneOf(installStates, 'Only those in this state.', 'active')),
  app: Type.Optional(text('Only those of the app with this slug.', 'newsletter')),
  userExternalId: Type.Optional(text("Only those of this user, by the builder's own ID.", '42')),
  ...pageQuery,
})

const rows = (description: string) => Type.Array(jsonObject('Any JSON object.', {}), { description, examples: [[]] })

export const personalData = model('PersonalData', 'Everything that is stored about a person.', {
  user: managedUser,
  identities: rows('Accounts at identity providers.'),
  sessions: rows('Sessions with the addresses and browsers they came from.'),
  knownBrowsers: rows('Browsers in which the person has signed in.'),
  authenticatorApps: rows('Authenticator apps.'),
  passkeys: rows('Passkeys.'),
  passwordLinks: rows('Links to set a password.'),
  mails: rows('Mails to the person, without their text.'),
  mutedMails: rows('Kinds of mails that the person does not want.'),
  recoveryCodes: rows('When recovery codes were made and used.'),
  grants: rows('Grants to apps.'),
  resources: rows('Websites and stores.'),
  installs: rows('Installs of apps.'),
  apps: rows('Apps that the person owns.'),
  reviewMessages: rows('What the person asked or answered about versions under review.'),
  memberships: rows('Teams of apps that the person is or was in.'),
  invitations: rows('Invitations to such teams.'),
  audit: rows('Events that the person caused or that are about them, oldest first.'),
})

export const erasedUser = model('ErasedUser', 'What was removed with the person.', {
  id: recordId('usr', 'The ID, which stays in the audit log.'),
  resources: count('Websites and stores.', 2),
  installs: count('Installs that ended.', 1),
})

export const auditQuery = Type.Object({
  after: Type.Optional(text('The `next` of the answer before; 0 or nothing begins with the oldest event.', '0')),
  limit: Type.Optional(text('How many at most; 100 unless stated.', '100', { documented: integer(1, 1000, 100) })),
})

export const auditEventList = model('AuditEventList', 'Events of the audit log.', {
  data: Type.Array(
    model('AuditEvent', 'What happened.', {
      position: count('Its place in the order in which events became readable.', 17),
      id: recordId('aud', 'ID of the event.'),
      at: time('When it happened.'),
      actorKind: text('app, user, operator, service, anonymous or system.', 'user'),
      actorId: nullableText('Who did it.', 'usr_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d'),
      appId: nullableText('The app that it is about.', 'app_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d'),
      environment: nullableText('development or production.', 'production'),
      action: text('What was done, such as grant.revoked.', 'grant.revoked'),
      target: nullableText('What it was done to.', 'grt_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d'),
      outcome: text('done or refused.', 'done'),
      reason: nullableText('The error code of a refusal.', 'invalid_grant'),
      detail: nullable(
        Type.Record(Type.String(), Type.Unknown(), { examples: [{ revision: 2 }] }),
        'Further facts: IDs, states and counts.',
      ),
      requestId: recordId('req', 'ID of the request.'),
      address: text('Where the request came from.', '198.51.100.7'),
    }),
    { description: 'Events by position.' },
  ),
  next: count('Where to go on; the same as `after` if there is nothing new.', 117),
})

/** Apps of users in the management API. */

export const appListQuery = Type.Object({
  ownerExternalId: text("Whose apps: the builder's own ID of the user.", '42'),
})

export const appTransfer = model('AppTransfer', 'Who gets the app.', {
  toExternalId: text("The builder's own ID of the new owner, who must be active.", '43'),
})

export const managedApp = model('ManagedApp', 'The app.', {
  id: recordId('app', 'ID of the app.'),
  slug: text('Short name.', 'newsletter'),
  name: text('Name.', 'Newsletter'),
  status: oneOf(appStatuses, 'Whether its secrets and tokens work.', 'active'),
  ownerExternalId: nullableText("The builder's own ID of the owner.", '42'),
  createdAt: time('When it was registered.'),
  deletedAt: nullableTime('When it was deleted.'),
})

export const managedAppList = pageModel('ManagedAppList', 'The apps of a user.', managedApp, 'By slug.')

/** Commands of operators over the network, in the management API. */

/** A line of a shell has few words. */
const mostWords = 100

export const commandRequest = model('CommandRequest', 'A command line, without the name of the program.', {
  arguments: Type.Array(text('A word, with nothing quoted.', 'suspend', { maxLength: 16_384 }), {
    minItems: 1,
    maxItems: mostWords,
    description: 'The words as the program gets them, such as app, suspend, newsletter and --json.',
  }),
  width: Type.Optional(
    Type.Union([Type.Integer({ minimum: 20, maximum: 1_000 }), Type.Null()], {
      description: 'Columns of the terminal that shows tables; null or missing: each row is one line.',
    }),
  ),
})

export const commandResult = model('CommandResult', 'What the command printed, and how it ended.', {
  exitCode: Type.Union([Type.Literal(0), Type.Literal(1), Type.Literal(2)], {
    description: '0: done. 1: refused or failed. 2: called wrongly.',
    examples: [0],
  }),
  stdout: text('Its answer; with --json one JSON value, also for a failure.', 'slug  newsletter'),
  stderr: text('Warnings, and why it failed.', ''),
})

/** The operator's own scopes in the management API. */

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

export const managedScopeList = pageModel('ManagedScopeList', 'A page of scopes.', managedScope, 'Scopes by name.')

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
