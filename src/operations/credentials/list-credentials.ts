import type { Credential } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { credentialStatus } from '../../domain/credential.ts'
import { refuse } from '../../domain/errors.ts'
import { rightOverSecrets } from '../../domain/member.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { refusalOfRole, type Rule } from '../acting-as.ts'
import { findApp } from '../apps/app-record.ts'
import { canBeFound, emptyPage, newestFirst, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { pick } from '../../domain/pick.ts'

/** A client secret as its owner sees it, without the secret itself. */
export type CredentialRecord = ReturnType<typeof credentialRecord>
/** The record of a new secret: the only place where the secret is shown. */
export type NewCredentialRecord = CredentialRecord & { readonly clientSecret: string }

/** The record of a row, with its status at `now` (epoch milliseconds). */
export const credentialRecord = (row: Credential, environment: Environment, now: number) => ({
  id: row.id,
  clientId: row.clientId,
  environment,
  label: row.label,
  status: credentialStatus(row, now),
  ...pick(row, 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'),
})

/** A secret in a list on a page, with what tells it from another one: its last four characters, and who made it. */
export type ListedSecret = ReturnType<typeof listedSecret>

const listedSecret = (row: Credential, environment: Environment, now: number) => ({
  ...credentialRecord(row, environment, now),
  /** Null for a secret that is older than the column. */
  hint: row.hint,
  createdBy: madeBy(row.createdBy),
})

const madeBy = (stored: string | null) => {
  const [kind, id = null] = stored?.split(' ') ?? []
  return kind === undefined ? null : { kind, id }
}

/**
 * Every client secret that an app has or had. Development comes first, then the oldest.
 * @throws invalid_request for an unknown slug
 */
export const listCredentials = async (platform: Platform, slug: string): Promise<CredentialRecord[]> => {
  const q = platform.database.queries
  const now = platform.clock.now()
  const app = await findApp(q, slug)
  const records: CredentialRecord[] = []
  for (const client of await q.apps.clientsOf(app.id)) {
    const rows = await q.credentials.listByClient(client.id)
    records.push(...rows.map((row) => credentialRecord(row, client.environment, now)))
  }
  return records
}

/** The live secrets of each environment, oldest first. There are never more than two. */
export const listLiveCredentials = async (platform: Platform, clientIds: Readonly<Record<Environment, string>>) => {
  const now = platform.clock.now()
  const of = async (environment: Environment) =>
    (await platform.database.queries.credentials.liveOfClient(clientIds[environment], now)).map((row) =>
      listedSecret(row, environment, now),
    )
  return { development: await of('development'), production: await of('production') }
}

/** The ended secrets of an app in both environments, revoked or past their grace period, newest first. With `part`, those whose label or ID contains it. */
export const listEndedCredentials = async (platform: Platform, appId: string, page: PageRequest, part = '') => {
  if (!canBeFound(part)) return emptyPage
  const now = platform.clock.now()
  return await newestFirst(page, async (place, length) => {
    const rows = await platform.database.queries.credentials.endedOfApp(appId, now, place, length, part)
    return rows.map(({ credential, environment }) => listedSecret(credential, environment, now))
  })
}

/** Refuses unless the secret belongs to the app of this slug and the role of this user there may change it. To others it does not exist. */
export const ownsCredential =
  (userId: string, slug: string, credentialId: string): Rule =>
  async (q) => {
    const access = await q.appMembers.access(userId, slug)
    const found = await q.credentials.find(credentialId)
    if (access === null || found?.app.id !== access.app.id) return refuse('route_not_found')
    return refusalOfRole(access.role, rightOverSecrets(found.environment))
  }

/** Whether any app, active or not, has this client ID. Takes equally long if none has. */
export const isClient = async (platform: Platform, clientId: string): Promise<boolean> =>
  environmentOfClientId(clientId) !== null && (await platform.database.queries.apps.idOfClient(clientId)) !== null
