import {
  changeAppScopes,
  letSecretsRollBack,
  setListed,
  setAppStatus,
  deleteApp,
  undeleteApp,
  transferApp,
} from '../../../../src/operations/apps/apps.ts'
import { revokeCredential, rotateCredential } from '../../../../src/operations/credentials/credentials.ts'
import { createInstall, moveInstall } from '../../../../src/operations/installs/installs.ts'
import type { Platform } from '../../../../src/operations/platform.ts'
import { addRedirectUri, removeRedirectUri } from '../../../../src/operations/redirect-uris.ts'
import { purgeBatch } from '../../../../src/operations/purge/purge.ts'
import { setOperator, setUserEmail } from '../../../../src/operations/users/users.ts'
import { resetPassword } from '../../../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../../../src/operations/users/set-user-status.ts'
import { moveVersion } from '../../../../src/operations/versions/move-version.ts'
import {
  addEndpoint,
  removeEndpoint,
  setEndpointStatus,
  rotateWebhookSecret,
} from '../../../../src/operations/webhooks/endpoints.ts'
import { operator, trace } from '../../../support/operator.ts'
import { submitVersion } from '../../../support/version.ts'
import { addApp, addUser, type AppInWorld, installApp, type Login } from '../../../support/world.ts'
import { makeThingsOfBuilder } from './things-of-builder.ts'
import { makeTeam } from './team.ts'
import { makeLiveVersion } from './live-version.ts'

/** Something that is in force until somebody ends it. */
export type Thing = {
  readonly name: string
  readonly end: (platform: Platform) => Promise<unknown>
  /** Puts it in force again; absent if it cannot begin again. */
  readonly begin?: (platform: Platform) => Promise<unknown>
  readonly isInForce: (platform: Platform) => Promise<boolean>
}

/** One of everything that can be ended, for a new user and app. */
export const makeThings = async (platform: Platform): Promise<readonly Thing[]> => {
  const owner = await addUser(platform)
  const app = await addApp(platform, owner)
  const callback = { slug: app.slug, environment: 'development', uri: app.redirectUri } as const
  return [
    ...(await makeSecrets(platform, app)),
    ...(await makeVersions(platform, app)),
    await makeLiveVersion(platform, owner),
    ...(await makeInstalls(platform, app, owner)),
    ...(await makeEndpoints(platform, app)),
    ...(await makePeople(platform)),
    ...(await makeThingsOfBuilder(platform)),
    ...(await makeScopes(platform, owner)),
    ...(await makeApps(platform, owner)),
    ...(await makeTeam(platform, owner)),
    {
      name: 'redirect URI',
      end: async (at) => await removeRedirectUri(at, trace, operator, callback),
      begin: async (at) => await addRedirectUri(at, trace, operator, callback),
      isInForce: async ({ database }) =>
        await database.queries.redirectUris.isRegistered(app.development.clientId, app.redirectUri),
    },
  ]
}

export const namesInForce = async (platform: Platform, things: readonly Thing[]): Promise<readonly string[]> => {
  const found = await Promise.all(things.map(async (thing) => ((await thing.isInForce(platform)) ? [thing.name] : [])))
  return found.flat()
}

const isActive = (id: string) => async (at: Platform) => {
  const app = await at.database.queries.apps.byId(id)
  return app?.status === 'active' && app.deletedAt === null
}
const setStatus = async (at: Platform, { slug }: AppInWorld, status: 'active' | 'suspended') =>
  await setAppStatus(at, trace, operator, { slug, status })

const makeApps = async (platform: Platform, owner: Login): Promise<readonly Thing[]> => {
  const heir = await addUser(platform)
  const made = async () => await addApp(platform, owner)
  const [suspended, purged, deleted, owned] = [await made(), await made(), await made(), await made()]
  const transferTo = async (at: Platform, { email }: Login) =>
    await transferApp(at, trace, operator, { slug: owned.slug, email })
  return [
    {
      name: 'app',
      end: async (at) => await setStatus(at, suspended, 'suspended'),
      begin: async (at) => await setStatus(at, suspended, 'active'),
      isInForce: isActive(suspended.id),
    },
    {
      name: 'app, deleted and purged',
      end: async (at) => {
        await deleteApp(at, trace, operator, purged.slug)
        await purgeApps(at)
      },
      isInForce: isActive(purged.id),
    },
    {
      name: 'app, deleted',
      end: async (at) => await deleteApp(at, trace, operator, deleted.slug),
      begin: async (at) => {
        await undeleteApp(at, trace, operator, deleted.slug)
        await setStatus(at, deleted, 'active')
      },
      isInForce: isActive(deleted.id),
    },
    {
      name: 'owner of an app',
      end: async (at) => await transferTo(at, heir),
      begin: async (at) => await transferTo(at, owner),
      isInForce: async ({ database }) => (await database.queries.apps.byId(owned.id))?.ownerId === owner.id,
    },
  ]
}

/** As the purge does 8 days from now. */
const purgeApps = async (platform: Platform): Promise<void> => {
  const then = platform.clock.now() + 8 * 24 * 3_600_000
  const later = { ...platform, clock: { ...platform.clock, purgeBefore: () => then } }
  let finished = false
  while (!finished) ({ finished } = await purgeBatch(later, trace, 'deleted_apps', { afterGrantId: '' }))
}

const makeScopes = async (platform: Platform, owner: Login): Promise<readonly Thing[]> => {
  const app = await addApp(platform, owner, 'profile:read site:read store:read')
  const install = await installApp(platform, app, owner)
  const agreeTo = async ({ database, clock }: Platform, scopes: string) =>
    await database.transaction(async (q) => await q.installs.setScopes(install, scopes, clock.now()))
  await agreeTo(platform, 'site:read store:read')
  const set = async (at: Platform, scopes: string) =>
    await changeAppScopes(at, trace, operator, { slug: app.slug, scopes })
  return [
    {
      name: 'scope of an app',
      end: async (at) => await set(at, 'profile:read profile.email:read store:read'),
      begin: async (at) => await set(at, 'profile:read profile.email:read site:read store:read'),
      isInForce: async ({ database }) =>
        (await database.queries.apps.byId(app.id))?.scopes.includes('site:read') === true,
    },
    {
      name: 'rollbacks by development secrets',
      end: async (at) => await letSecretsRollBack(at, trace, operator, { slug: app.slug, areAllowed: false }),
      begin: async (at) => await letSecretsRollBack(at, trace, operator, { slug: app.slug, areAllowed: true }),
      isInForce: async ({ database }) => (await database.queries.apps.byId(app.id))?.secretsRollBack === true,
    },
    {
      name: 'place in the directory',
      end: async (at) => await setListed(at, trace, operator, { slug: app.slug, isListed: false }),
      begin: async (at) => await setListed(at, trace, operator, { slug: app.slug, isListed: true }),
      isInForce: async ({ database }) => (await database.queries.apps.byId(app.id))?.isListed === true,
    },
    {
      name: 'scope of an install',
      end: async (at) => await agreeTo(at, 'store:read'),
      begin: async (at) => await agreeTo(at, 'site:read store:read'),
      isInForce: async ({ database }) =>
        (await database.queries.installs.find(install))?.install.scopes === 'site:read store:read',
    },
  ]
}

const isLiveSecret =
  (id: string) =>
  async ({ database }: Platform): Promise<boolean> => {
    const found = (await database.queries.credentials.find(id))?.credential
    return found?.revokedAt === null && found.expiresAt === null
  }

const makeSecrets = async (platform: Platform, app: AppInWorld): Promise<readonly Thing[]> => {
  const idOf = async (clientId: string) =>
    (await platform.database.queries.credentials.listByClient(clientId))[0]?.id ?? ''
  const [revoked, rotated] = [await idOf(app.development.clientId), await idOf(app.production.clientId)]
  return [
    {
      name: 'secret, revoked',
      end: async (at) => await revokeCredential(at, trace, operator, revoked),
      isInForce: isLiveSecret(revoked),
    },
    {
      name: 'secret, rotated',
      end: async (at) =>
        await rotateCredential(at, trace, operator, { clientId: app.production.clientId, graceHours: 1 }),
      isInForce: isLiveSecret(rotated),
    },
  ]
}

const userOf = async ({ database }: Platform, id: string) => await database.queries.users.byId(id)

const makePeople = async (platform: Platform): Promise<readonly Thing[]> => {
  const [person, forgetful, desk] = [await addUser(platform), await addUser(platform), await addUser(platform)]
  const moving = await addUser(platform)
  const movedTo = `moved-${moving.email}`
  const lasting = await addUser(platform) // the rights of the last operator cannot be withdrawn
  for (const { id } of [desk, lasting]) {
    await setOperator(platform, trace, operator, { userId: id, isOperator: true })
  }
  return [
    {
      name: 'user',
      end: async (at) => await setUserStatus(at, trace, operator, { email: person.email, status: 'disabled' }),
      begin: async (at) => await setUserStatus(at, trace, operator, { email: person.email, status: 'active' }),
      isInForce: async (at) => (await userOf(at, person.id))?.status === 'active',
    },
    {
      name: 'password',
      end: async (at) =>
        await resetPassword(at, trace, operator, { userId: forgetful.id, password: 'a new one that counts' }),
      begin: async (at) =>
        await resetPassword(at, trace, operator, { userId: forgetful.id, password: forgetful.password }),
      isInForce: async (at) =>
        await at.passwords.matches(forgetful.password, (await userOf(at, forgetful.id))?.passwordHash ?? null),
    },
    {
      name: 'address',
      end: async (at) => await setUserEmail(at, trace, operator, { email: moving.email, to: movedTo }),
      begin: async (at) => await setUserEmail(at, trace, operator, { email: movedTo, to: moving.email }),
      isInForce: async (at) => (await userOf(at, moving.id))?.email === moving.email,
    },
    {
      name: 'rights of an operator',
      end: async (at) => await setOperator(at, trace, operator, { userId: desk.id, isOperator: false }),
      begin: async (at) => await setOperator(at, trace, operator, { userId: desk.id, isOperator: true }),
      isInForce: async (at) => (await userOf(at, desk.id))?.isOperator === true,
    },
  ]
}

const makeVersions = async (platform: Platform, app: AppInWorld): Promise<readonly Thing[]> => {
  const submitted = async (version: string, step: 'reject' | 'withdraw'): Promise<Thing> => {
    const { id } = await submitVersion(platform, app, { version })
    const rejection = step === 'reject' ? { message: 'Not this one.', items: [] } : null
    const again = { slug: app.slug, version, step: 'submit', rejection: null } as const
    return {
      name: `version, ${step}`,
      end: async (at) => await moveVersion(at, trace, operator, { slug: app.slug, version, step, rejection }),
      ...(step === 'withdraw' ? { begin: async (at) => await moveVersion(at, trace, operator, again) } : {}),
      isInForce: async ({ database }) => (await database.queries.versions.byId(app.id, id))?.status === 'submitted',
    }
  }
  return [await submitted('1.0.0', 'reject'), await submitted('2.0.0', 'withdraw')]
}

const installEndedBy = (name: string, id: string, step: 'deactivate' | 'reject'): Thing => ({
  name,
  end: async (at) => await moveInstall(at, trace, operator, { id, step }),
  isInForce: async ({ database }) => {
    const install = (await database.queries.installs.find(id))?.install
    return install?.state === 'active' || install?.approval === 'pending'
  },
})

const makeInstalls = async (platform: Platform, app: AppInWorld, user: Login): Promise<readonly Thing[]> => {
  const active = await installApp(platform, app, user)
  const place = { slug: app.slug, userEmail: user.email, kind: 'store', resourceSlug: 'my-store' } as const
  const { id: pending } = await createInstall(platform, trace, operator, place)
  return [installEndedBy('install', active, 'deactivate'), installEndedBy('pending install', pending, 'reject')]
}

const makeEndpoints = async (platform: Platform, app: AppInWorld): Promise<readonly Thing[]> => {
  const made = async () => {
    const where = { slug: app.slug, environment: 'development', url: 'https://93.184.216.34/' } as const
    const { id } = await addEndpoint(platform, trace, operator, { ...where, kinds: ['credential.created'] })
    const secret = (await platform.database.queries.webhookEndpoints.liveSecrets(id, platform.clock.now()))[0]?.id
    const statusAt = async ({ database }: Platform) =>
      (await database.queries.webhookEndpoints.find(id))?.endpoint.status ?? null
    const signs = async ({ database, clock }: Platform) =>
      (await database.queries.webhookEndpoints.liveSecrets(id, clock.now())).some(
        (live) => live.id === secret && live.expiresAt === null,
      )
    return { id, statusAt, signs }
  }
  const [removed, disabled, rotated, purged] = [await made(), await made(), await made(), await made()]
  return [
    {
      name: 'endpoint, removed',
      end: async (at) => await removeEndpoint(at, trace, operator, removed.id),
      isInForce: async (at) => (await removed.statusAt(at)) !== null,
    },
    {
      name: 'endpoint, disabled',
      end: async (at) => await setEndpointStatus(at, trace, operator, { id: disabled.id, status: 'disabled' }),
      begin: async (at) => await setEndpointStatus(at, trace, operator, { id: disabled.id, status: 'enabled' }),
      isInForce: async (at) => (await disabled.statusAt(at)) === 'enabled',
    },
    {
      name: 'secret of an endpoint',
      end: async (at) => await rotateWebhookSecret(at, trace, operator, { id: rotated.id, graceHours: 1 }),
      isInForce: rotated.signs,
    },
    {
      name: 'secret of an endpoint, purged',
      end: async (at) => {
        await rotateWebhookSecret(at, trace, operator, { id: purged.id, graceHours: 0 })
        const over = at.clock.now() + 2 // less than the hour of the other one
        await at.database.transaction(async (q) => await q.expiring.remove('webhook_secrets', over, 100))
      },
      isInForce: purged.signs,
    },
  ]
}
