import { environmentOfClientId } from '../../domain/identifier.ts'
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

/** Only these fields of each row, so that a new column is not told before somebody has decided so. */
const pick = <Row, Name extends keyof Row>(rows: readonly Row[], ...names: readonly Name[]): Pick<Row, Name>[] =>
  rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>) // of these very names

/** @throws invalid_request for an unknown address */
export const exportUser = async (platform: Platform, address: string) => {
  const { queries: q } = platform.database
  const user = await knownUser(q, address)
  if (user instanceof PlatformError) throw user
  const { id } = user
  return {
    user: builderUser(user),
    identities: pick(await q.identities.ofUser(id), 'issuer', 'subject', 'createdAt'),
    sessions: pick(await q.sessions.everyOfUser(id), ...times, 'endedAt', 'lastUsedAt', 'askedAt', 'address', 'agent'),
    knownBrowsers: pick(await q.devices.ofUser(id), ...times),
    authenticatorApps: pick(await q.totpKeys.everyOfUser(id), 'createdAt', 'lastUsedAt', 'endedAt'),
    passkeys: pick(await q.passkeys.everyOfUser(id), 'name', 'createdAt', 'lastUsedAt', 'endedAt'),
    passwordLinks: pick(await q.passwordLinks.everyOfUser(id), 'email', ...times, 'endedAt'),
    mails: pick(await q.mails.everyOfUser(id), 'kind', 'state', 'createdAt'),
    recoveryCodes: pick(await q.recoveryCodes.everyOfUser(id), 'createdAt', 'endedAt'),
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
    resources: pick(
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
    installs: pick(
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
    apps: pick(await q.apps.listOwnedBy(id), 'id', 'name', 'slug', 'status', 'createdAt'),
    memberships: pick(await q.appMembers.everyOfUser(id), 'appId', 'role', 'createdAt', 'updatedAt', 'endedAt'),
    invitations: pick(await q.appInvitations.everyTo(user.email), 'appId', 'role', ...times, 'endedAt'),
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
