import { strToU8, zipSync } from 'fflate'
import { addScope, giveScope } from '../../../src/operations/scopes/scopes.ts'
import { serviceRights } from '../../../src/domain/service-key.ts'
import { createServiceKey, revokeServiceKey } from '../../../src/operations/service-keys/change-service-keys.ts'
import { receivedArtifact } from '../../support/received-artifact.ts'
import type { VersionStep } from '../../../src/domain/version.ts'
import { inviteMember, addMember } from '../../../src/operations/apps/members.ts'
import { deleteApp, setAppStatus } from '../../../src/operations/apps/apps.ts'
import { startBackup } from '../../../src/operations/backups/backups.ts'
import {
  createCredential,
  revokeCredential,
  rotateCredential,
} from '../../../src/operations/credentials/credentials.ts'
import { createInstall } from '../../../src/operations/installs/installs.ts'
import { issueAppToken } from '../../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { addRedirectUri } from '../../../src/operations/redirect-uris.ts'
import { type AppCaller, authenticateAppToken } from '../../../src/operations/authenticate.ts'
import { createUser } from '../../../src/operations/users/users.ts'
import { setUserStatus } from '../../../src/operations/users/set-user-status.ts'
import { createVersion } from '../../../src/operations/versions/create-version.ts'
import { writeReviewMessage } from '../../../src/operations/versions/review.ts'
import { moveVersion, rollBackVersion } from '../../../src/operations/versions/move-version.ts'
import { attemptPathsOf, stockWebhooks } from './stock-webhooks.ts'
import { askBeside } from '../../support/beside.ts'
import { addTotp } from '../../support/factors.ts'
import { addEmbeddedVersion } from '../../support/embedding.ts'
import { operator as actor, trace } from '../../support/operator.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  createWorld,
  grantTokens,
  installApp,
  type Login,
  signIn,
  type World,
} from '../../support/world.ts'

/** A world with some of everything that a page can show: one developer's app in every state, and other people's. */
export type StockedWorld = World & {
  /** A user with the longest possible address, who has their own app and no rights to the first one. */
  readonly stranger: Login
  readonly strangersApp: AppInWorld
  readonly operator: Login
  readonly secondOperator: Login
  readonly disabledUser: Login
  /** With an authenticator app, and suspended because data was lost. */
  readonly suspendedUser: Login
  readonly suspendedApp: AppInWorld
  /** An app of somebody else that the first user works on. */
  readonly joinedApp: AppInWorld
  /** An app of the first user of which no version was ever live. */
  readonly newApp: AppInWorld
  readonly deletedApp: AppInWorld
  /** An install that waits for the operator. */
  readonly pendingInstallId: string
  /** An install of the stranger's app by the first user, which can be opened in a frame of `framedOrigin`. */
  readonly openableInstallId: string
  readonly grantId: string
  /** A secret of the first app in production, which works. */
  readonly liveSecretId: string
  /** A secret of the stranger's app that is suspended because data was lost. */
  readonly suspendedSecretId: string
  /** A service key that works, one that has ended, and one that is suspended because data was lost. */
  readonly serviceKeyIds: readonly [string, string, string]
  /** A long redirect URI of the first app in development. */
  readonly longUri: string
  /** An admin of the first app. */
  readonly member: Login
  /** An invitation to the first app. */
  readonly invitation: { readonly id: string }
  /** The secret of the first user's invitation to the stranger's app. */
  readonly ownInvitation: string
  /** Another session of the first user. */
  readonly otherSessionKey: string
  /** A webhook endpoint that works and one that is disabled, both with recorded attempts. */
  readonly endpointIds: readonly string[]
  /** The pages of the attempts of the first endpoint, below its app. */
  readonly attemptPaths: readonly string[]
}

/** The origin of the stranger's app, which opens in a frame. */
export const framedOrigin = 'https://framed.example'

/** The versions of the first app, with what has happened to each. */
const versions: readonly { readonly version: string; readonly steps: readonly VersionStep[] }[] = [
  { version: '1.0.0', steps: ['submit', 'approve', 'activate'] },
  { version: '1.1.0', steps: ['submit', 'approve', 'activate'] },
  { version: '1.2.0', steps: ['submit', 'reject'] },
  { version: '1.3.0', steps: ['submit', 'approve'] },
  { version: '2.0.0', steps: ['submit'] },
  { version: `2.1.0-${'long.'.repeat(8)}1`, steps: [] },
]

export const createStockedWorld = async (env: Readonly<Record<string, string>> = {}): Promise<StockedWorld> => {
  const world = await createWorld({ env })
  const { platform, app, user } = world
  const people = await addPeople(platform)
  const strangersApp = await addApp(platform, people.stranger)
  const suspendedApp = await addApp(platform, user)
  await setAppStatus(platform, trace, actor, { slug: suspendedApp.slug, status: 'suspended' })
  const newApp = await addApp(platform, user)
  const deletedApp = await addApp(platform, user)
  await deleteApp(platform, trace, actor, deletedApp.slug)
  const liveSecretId = await stockCredentials(platform, app)
  const [suspendedSecret] = await platform.database.queries.credentials.listByClient(strangersApp.production.clientId)
  const suspendedSecretId = suspendedSecret?.id ?? ''
  const serviceKeyIds = await stockServiceKeys(platform)
  const ids = { users: people.suspendedUser.id, credentials: suspendedSecretId, service_keys: serviceKeyIds[2] }
  await suspend(world.server.database, ids)
  await stockScope(platform, app.slug)
  await stockEndpoint(platform)
  await stockVersions(platform, app, people.operator)
  const question = {
    slug: app.slug,
    version: '2.0.0',
    side: 'operators',
    text: `Why ${'site:read '.repeat(30)}?`,
  } as const
  await writeReviewMessage(platform, trace, { kind: 'operator', id: people.operator.id }, question)
  const longUri = `https://app.example/${'long/'.repeat(60)}`
  await addRedirectUri(platform, trace, actor, { slug: app.slug, environment: 'development', uri: longUri })
  const second = { slug: app.slug, environment: 'production', uri: 'https://app.example/second' } as const
  await addRedirectUri(platform, trace, actor, second)
  const guest = await addUser(platform, 'Guest Example')
  const joinedApp = await addApp(platform, guest)
  await addEmbeddedVersion(platform, strangersApp, { manifest: { embedUrl: `${framedOrigin}/` } })
  const openableInstallId = await installApp(platform, strangersApp, user)
  const { id: pendingInstallId } = await createInstall(platform, trace, actor, {
    slug: app.slug,
    userEmail: guest.email,
    kind: 'store',
    resourceSlug: 'my-store',
  })
  if (platform.database.backups !== null) {
    const { finished } = await startBackup(platform, trace, actor, { server: platform, keep: 5 })
    await finished
  }
  const { grantId } = await grantTokens(world)
  const endpointIds = await stockWebhooks(platform, app)
  const attemptPaths = await attemptPathsOf(platform, endpointIds[0] ?? '')
  await grantTokens({ ...world, app: strangersApp })
  await stockTrail(platform, app)
  await addMember(platform, trace, actor, { slug: app.slug, email: guest.email, role: 'admin' })
  await addMember(platform, trace, actor, { slug: joinedApp.slug, email: user.email, role: 'developer' })
  const invite = async ({ slug }: AppInWorld, email: string, invitedBy: string) =>
    await inviteMember(platform, trace, actor, { slug, email, role: 'developer', invitedBy })
  const invitation = await invite(app, `${'i'.repeat(64)}@${'long.'.repeat(20)}example`, user.id)
  const { link } = await invite(strangersApp, user.email, people.stranger.id)
  const ownInvitation = new URL(link).searchParams.get('link') ?? ''
  const otherSessionKey = (await signIn(world.server.url, user)).slice(5, 27)
  const installs = { pendingInstallId, openableInstallId }
  const parts = {
    liveSecretId,
    suspendedSecretId,
    serviceKeyIds,
    longUri,
    grantId,
    otherSessionKey,
    endpointIds,
    attemptPaths,
  }
  const team = { member: guest, invitation, ownInvitation }
  return {
    ...world,
    ...people,
    ...team,
    strangersApp,
    joinedApp,
    suspendedApp,
    newApp,
    deletedApp,
    ...installs,
    ...parts,
  }
}

/** An endpoint of the builder, of a kind of event that does not happen here, so that nothing is sent meanwhile; and a disabled one. */
export const stockedEndpoint = `whk_${'b'.repeat(32)}`
export const disabledEndpoint = `whk_${'c'.repeat(32)}`
const stockEndpoint = async ({ database, clock }: Platform): Promise<void> => {
  const now = clock.now()
  const of = {
    appId: null,
    environment: 'production',
    url: 'https://builder.example/hooks',
    kinds: 'user.erased',
  } as const
  const unused = { failingSince: null, createdAt: now, updatedAt: now } as const
  await database.transaction(async (q) => {
    await q.webhookEndpoints.insert({ id: stockedEndpoint, ...of, ...unused, status: 'enabled', reason: null })
    await q.webhookEndpoints.insert({ id: disabledEndpoint, ...of, ...unused, status: 'disabled', reason: 'by_hand' })
  })
}

/** A restricted scope of the operator that the app was given. */
export const stockedScope = 'orders:read'
const stockScope = async (platform: Platform, slug: string): Promise<void> => {
  const scope = { name: stockedScope, usableBy: 'both', text: 'List your orders', isRestricted: true } as const
  await addScope(platform, trace, actor, scope)
  await giveScope(platform, trace, actor, { name: stockedScope, slug })
}

const stockServiceKeys = async (platform: Platform): Promise<[string, string, string]> => {
  const input = { name: 'Builder backend', rights: serviceRights, networks: ['10.0.0.0/8'], expiresInDays: 90 }
  const live = await createServiceKey(platform, trace, actor, input)
  const ended = await createServiceKey(platform, trace, actor, { ...input, name: 'Old backend', rights: ['sign-in'] })
  await revokeServiceKey(platform, trace, actor, ended.id)
  const suspended = await createServiceKey(platform, trace, actor, { ...input, name: 'Suspended backend' })
  return [live.id, ended.id, suspended.id]
}

/** What a restore does to what may have been revoked in the lost time. */
const suspend = async (database: string, rows: Readonly<Record<string, string>>): Promise<void> => {
  for (const [table, id] of Object.entries(rows)) {
    await askBeside(database, `UPDATE ${table} SET suspended_at = ? WHERE id = ?`, Date.now(), id)
  }
}

const addPeople = async (platform: Platform) => {
  const suspendedUser = await addUser(platform, 'Suspended Example')
  await addTotp(platform, suspendedUser)
  const disabledUser = await addUser(platform, 'Disabled Example')
  await setUserStatus(platform, trace, actor, { email: disabledUser.email, status: 'disabled' })
  return {
    suspendedUser,
    disabledUser,
    stranger: await addPerson(platform, `${'s'.repeat(64)}@${'long.'.repeat(20)}example`, false),
    operator: await addPerson(platform, 'operator@example.com', true),
    secondOperator: await addPerson(platform, 'second.operator@example.com', true),
  }
}

const addPerson = async (platform: Platform, email: string, isOperator: boolean): Promise<Login> => {
  const password = 'correct horse battery'
  const { id } = await createUser(platform, trace, actor, { email, name: 'Some Person', password, isOperator })
  return { id, email, password }
}

/** In development a rotated secret in its grace period, so that no third can be created; in production a revoked one and one with a label. */
const stockCredentials = async (platform: Platform, { slug, development, production }: AppInWorld): Promise<string> => {
  await rotateCredential(platform, trace, actor, { clientId: development.clientId, graceHours: 24 })
  for (const { id } of await platform.database.queries.credentials.listByClient(production.clientId)) {
    await revokeCredential(platform, trace, actor, id)
  }
  return (await createCredential(platform, trace, actor, { slug, environment: 'production', label: 'Labelled' })).id
}

const callerOf = async (platform: Platform, app: AppInWorld): Promise<AppCaller> => {
  const { accessToken } = await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
  const caller = await authenticateAppToken(platform, accessToken)
  if (caller === null) throw new Error('a token that was just issued is not alive')
  return caller
}

/** Files of which, from one version to the next, one changes, one goes, one comes and one stays. */
const archiveOf = (version: string): Uint8Array => {
  const files = { 'index.js': version, [`only-${version}.txt`]: 'x', 'same.txt': 'The same.' }
  const bytes = Object.entries(files).map(([path, text]) => [path, strToU8(text)] as const)
  return zipSync(Object.fromEntries(bytes), { mtime: new Date(2026, 1, 1) })
}

/** A version in every status, and a rollback in both environments. */
const stockVersions = async (platform: Platform, app: AppInWorld, { id }: Login): Promise<void> => {
  const caller = await callerOf(platform, app)
  for (const { version, steps } of versions) {
    const artifact = { filename: 'bundle.zip', content: receivedArtifact(archiveOf(version)), sha256: null }
    const upload = {
      version,
      notes: 'Notes',
      manifest: { name: version },
      scopes: ['site:read', 'store:read'],
      artifact,
    }
    await createVersion(platform, trace, caller, upload, null)
    for (const step of steps) {
      const items = [{ path: 'manifest.name', message: 'Say more.' }]
      const rejection = step === 'reject' ? { message: 'Not yet.', items } : null
      await moveVersion(platform, trace, { kind: 'operator', id }, { slug: app.slug, version, step, rejection })
    }
  }
  for (const environment of ['production', 'development'] as const) {
    const request = { target: null, environment, reason: 'A reason', dryRun: false }
    await rollBackVersion(platform, trace, caller, request, null)
  }
}

/** More events of the app than one page shows: repeated attempts with a wrong secret. */
const stockTrail = async (platform: Platform, { development }: AppInWorld): Promise<void> => {
  const wrong = { clientId: development.clientId, clientSecret: 'wrong', scope: 'site:read' }
  for (let tried = 0; tried < 60; tried += 1) {
    await issueAppToken(platform, trace, wrong).catch(() => undefined)
  }
}
