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

/** @throws invalid_request for an unknown address */
export const exportUser = async (platform: Platform, address: string) => {
  const { queries: q } = platform.database
  const user = await knownUser(q, address)
  if (user instanceof PlatformError) throw user
  const { id } = user
  const resources = await q.resources.ofOwner(id)
  return {
    user: builderUser(user),
    identities: (await q.identities.ofUser(id)).map(({ issuer, subject, createdAt }) => ({
      issuer,
      subject,
      createdAt,
    })),
    sessions: (await q.sessions.everyOfUser(id)).map(
      ({ createdAt, expiresAt, endedAt, lastUsedAt, askedAt, address: from, agent }) => ({
        createdAt,
        expiresAt,
        endedAt,
        lastUsedAt,
        askedAt,
        address: from,
        agent,
      }),
    ),
    knownBrowsers: (await q.devices.ofUser(id)).map(({ createdAt, expiresAt }) => ({ createdAt, expiresAt })),
    authenticatorApps: (await q.totpKeys.everyOfUser(id)).map(({ createdAt, lastUsedAt, endedAt }) => ({
      createdAt,
      lastUsedAt,
      endedAt,
    })),
    passkeys: (await q.passkeys.everyOfUser(id)).map(({ name, createdAt, lastUsedAt, endedAt }) => ({
      name,
      createdAt,
      lastUsedAt,
      endedAt,
    })),
    passwordLinks: (await q.passwordLinks.everyOfUser(id)).map(({ createdAt, expiresAt, endedAt, email }) => ({
      email,
      createdAt,
      expiresAt,
      endedAt,
    })),
    mails: (await q.mails.everyOfUser(id)).map(({ kind, state, createdAt }) => ({ kind, state, createdAt })),
    recoveryCodes: (await q.recoveryCodes.everyOfUser(id)).map(({ createdAt, endedAt }) => ({ createdAt, endedAt })),
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
    resources: resources.map(
      ({ id: resourceId, kind, externalId, name, slug, status, createdAt, updatedAt, publishedAt }) => ({
        id: resourceId,
        kind,
        externalId,
        name,
        slug,
        status,
        createdAt,
        updatedAt,
        publishedAt,
      }),
    ),
    installs: (await q.builderInstalls.everyOfUser(id)).map(
      ({ id: installId, appId, resourceId, environment, scopes, approval, state, createdAt, updatedAt }) => ({
        id: installId,
        appId,
        resourceId,
        environment,
        scopes,
        approval,
        state,
        createdAt,
        updatedAt,
      }),
    ),
    apps: (await q.apps.listOwnedBy(id)).map(({ id: appId, name, slug, status, createdAt }) => ({
      id: appId,
      name,
      slug,
      status,
      createdAt,
    })),
    memberships: (await q.appMembers.everyOfUser(id)).map(({ appId, role, createdAt, updatedAt, endedAt }) => ({
      appId,
      role,
      createdAt,
      updatedAt,
      endedAt,
    })),
    invitations: (await q.appInvitations.everyTo(user.email)).map(({ appId, role, createdAt, expiresAt, endedAt }) => ({
      appId,
      role,
      createdAt,
      expiresAt,
      endedAt,
    })),
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
