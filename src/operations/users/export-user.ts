import { environmentOfClientId } from '../../domain/identifier.ts'
import { pick } from '../../domain/pick.ts'
import { storedJson } from '../stored-json.ts'
import { PlatformError } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import { builderUser } from './builder-users.ts'
import { knownUser } from './find-user.ts'

/** Everything that is stored about a person, for the person. */
export type PersonalData = Awaited<ReturnType<typeof exportUser>>

/** The data as JSON, with times as RFC 3339 writes them. */
export const personalDataText = (data: PersonalData, indent = 0): string => JSON.stringify(data, readableTimes, indent)

const readableTimes = (key: string, value: unknown): unknown =>
  key.endsWith('At') && typeof value === 'number' ? new Date(value).toISOString() : value

/** Events that one read takes, and the pause after it, so that a long audit log does not stop the server. */
const eventsAtOnce = 2_000

const times = ['createdAt', 'expiresAt'] as const

const pickEach = <Row extends object, Name extends keyof Row>(rows: readonly Row[], ...names: readonly Name[]) =>
  rows.map((row) => pick(row, ...names))

/** @throws invalid_request for an unknown address */
export const exportUser = async (platform: Platform, address: string) => {
  const { queries: q } = platform.database
  const user = await knownUser(q, address)
  if (user instanceof PlatformError) throw user
  const { id } = user
  return {
    user: builderUser(user),
    identities: pickEach(await q.identities.ofUser(id), 'issuer', 'subject', 'createdAt'),
    sessions: pickEach(
      await q.sessions.everyOfUser(id),
      ...times,
      'endedAt',
      'lastUsedAt',
      'askedAt',
      'address',
      'agent',
    ),
    knownBrowsers: pickEach(await q.devices.ofUser(id), ...times),
    authenticatorApps: pickEach(await q.totpKeys.everyOfUser(id), 'createdAt', 'lastUsedAt', 'endedAt'),
    passkeys: pickEach(await q.passkeys.everyOfUser(id), 'name', 'createdAt', 'lastUsedAt', 'endedAt'),
    passwordLinks: pickEach(await q.passwordLinks.everyOfUser(id), 'email', ...times, 'endedAt'),
    mails: pickEach(await q.mails.everyOfUser(id), 'kind', 'state', 'createdAt'),
    recoveryCodes: pickEach(await q.recoveryCodes.everyOfUser(id), 'createdAt', 'endedAt'),
    grants: (await q.grants.everyOfUser(id)).map(
      ({ id: grantId, appId, clientId, scopes, createdAt, expiresAt, revokedAt }) => ({
        id: grantId,
        appId,
        environment: environmentOfClientId(clientId),
        scopes,
        createdAt,
        expiresAt,
        revokedAt,
      }),
    ),
    resources: pickEach(
      await q.resources.ofOwner(id),
      'id',
      'kind',
      'externalId',
      'name',
      'slug',
      'status',
      'createdAt',
      'updatedAt',
      'publishedAt',
    ),
    installs: pickEach(
      await q.builderInstalls.everyOfUser(id),
      'id',
      'appId',
      'resourceId',
      'environment',
      'scopes',
      'approval',
      'state',
      'createdAt',
      'updatedAt',
    ),
    apps: pickEach(await q.apps.listOwnedBy(id), 'id', 'name', 'slug', 'status', 'createdAt'),
    memberships: pickEach(await q.appMembers.everyOfUser(id), 'appId', 'role', 'createdAt', 'updatedAt', 'endedAt'),
    invitations: pickEach(await q.appInvitations.everyTo(user.email), 'appId', 'role', ...times, 'endedAt'),
    audit: await eventsAbout(platform, id),
  }
}

/** Events that the person caused or that are about them, oldest first. */
const eventsAbout = async ({ database: { queries: q } }: Platform, userId: string) => {
  const found: object[] = []
  let after = ''
  for (;;) {
    const { events, searchedTo } = await q.auditReading.aboutUser(userId, after, eventsAtOnce)
    for (const { id, at, action, target, outcome, reason, address, detail } of events) {
      const facts = detail === null ? null : storedJson<object>(detail)
      found.push({ id, at: new Date(at).toISOString(), action, target, outcome, reason, address, detail: facts })
    }
    if (searchedTo === null) return found
    after = searchedTo
    await Bun.sleep(1) // for other requests
  }
}
