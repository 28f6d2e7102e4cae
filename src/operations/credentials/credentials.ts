import type { Credential, Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { credentialStatus, endToldAtMs, maximumLiveSecrets } from '../../domain/credential.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { environmentOfClientId, recordIdOfKey } from '../../domain/identifier.ts'
import { typedName } from '../../domain/entered-name.ts'
import { type Actor, unsentMail } from '../audit/event.ts'
import { clientOfApp, findApp } from '../apps/app-record.ts'
import { badInput, decide, endOfGrace, newSecret, type Operation, refuseFault } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { rightOverSecrets } from '../../domain/member.ts'
import { accessTo, refusalOfRole, type Rule } from '../acting-as.ts'
import { canBeFound, emptyPage, newestFirst, type PageRequest } from '../page.ts'
import { pick } from '../../domain/pick.ts'

type NewCredential = {
  readonly slug: string
  readonly environment: Environment
  readonly label: string | null
}

/**
 * Creates a client secret of an app in one environment. The secret is only ever in this answer.
 * @throws invalid_request, too_many_secrets
 */
export const createCredential: Operation<NewCredential, NewCredentialRecord> = async (
  platform,
  trace,
  actor,
  input,
) => {
  const label = input.label === null ? null : typedName(input.label, 'label')
  refuseFault('label', label?.fault ?? null)
  const now = platform.clock.now()
  const minted = mintClientSecret(platform, input.environment, now)

  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const app = await findApp(q, input.slug)
    const client = await clientOfApp(q, app.id, input.environment)
    const fullness = await refusalIfFull(q, client.id, now)
    if (fullness !== null) return fullness
    const row = minted.rowFor(client.id, label?.name ?? null, actor)
    await q.credentials.insert(row)
    const { environment } = input
    await record({ action: 'credential.created', appId: app.id, environment, target: row.id })
    return { ...credentialRecord(row, environment, now), clientSecret: minted.clientSecret }
  })
}

/** A new random secret, made before the transaction that stores its hash. `now` is epoch milliseconds. */
const mintClientSecret = (platform: Platform, environment: Environment, now: number) => {
  const kind = environment === 'development' ? 'clientSecretDevelopment' : 'clientSecretProduction'
  const { key, secret: clientSecret, hash: secretHash } = newSecret(platform, kind, now)
  return {
    clientSecret,
    rowFor: (clientId: string, label: string | null, actor: Actor): Credential => ({
      id: recordIdOfKey('crd_', key),
      clientId,
      secretHash,
      label,
      createdAt: now,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      suspendedAt: null,
      // Digits of the checksum: at most 24 bits about a secret that has 256 random ones.
      hint: clientSecret.slice(-4),
      createdBy: 'id' in actor ? `${actor.kind} ${actor.id}` : actor.kind,
    }),
  }
}

/** The refusal of a third live secret. Asked in the transaction that adds one, so that parallel calls cannot both pass. */
const refusalIfFull = async (q: Queries, clientId: string, now: number): Promise<PlatformError | null> =>
  (await q.credentials.liveOfClient(clientId, now)).length >= maximumLiveSecrets
    ? refuse('too_many_secrets', { details: { maximum: maximumLiveSecrets } })
    : null

type Rotation = { readonly clientId: string; readonly graceHours: number }

/**
 * Creates a new secret and ends the older ones after the grace period. With 0 hours they end at once, together with the app
 * tokens they minted. A third live secret is refused.
 * @throws invalid_request, too_many_secrets
 */
export const rotateCredential: Operation<Rotation, NewCredentialRecord> = async (platform, trace, actor, input) => {
  const environment = environmentOfClientId(input.clientId)
  if (environment === null) throw badInput('clientId', 'There is no such client.')
  const now = platform.clock.now()
  const endsAt = endOfGrace(input.graceHours, now)
  const minted = mintClientSecret(platform, environment, now)

  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const found = await q.apps.byClient(input.clientId)
    if (found === null) return badInput('clientId', 'There is no such client.')
    // Without a grace period the old secrets end now, so there is no third one. An exposed secret must not wait for a slot.
    const fullness = input.graceHours === 0 ? null : await refusalIfFull(q, input.clientId, now)
    if (fullness !== null) return fullness
    const before = await q.credentials.liveOfClient(input.clientId, now)
    await q.credentials.endAt(before, endsAt)
    const row = minted.rowFor(input.clientId, before.at(-1)?.label ?? null, actor)
    await q.credentials.insert(row)
    if (platform.mailer !== null && input.graceHours > 0) await tellEnd(q, before, row, endsAt)
    const detail = { replaces: before.map((old) => old.id), graceHours: input.graceHours }
    await record({ action: 'credential.rotated', appId: found.app.id, environment, target: row.id, detail })
    return { ...credentialRecord(row, environment, now), clientSecret: minted.clientSecret }
  })
}

const mailOf = ({ id }: Credential): string => id.replace(/^crd_/, 'eml_')

/**
 * Writes the mail that tells the end of the old secret, to be sent later. It has the digits of the new secret. One that was in its
 * grace period already has its mail, which is sent sooner if the secret now ends sooner.
 */
const tellEnd = async (q: Queries, before: readonly Credential[], made: Credential, endsAt: number): Promise<void> => {
  const dueAt = endToldAtMs(made.createdAt, endsAt)
  for (const old of before) {
    if (old.expiresAt === null) {
      await q.mails.insert(unsentMail(mailOf(made), 'secret_ends', made.createdAt, dueAt))
    } else {
      const later = (await q.credentials.listByClient(old.clientId)).filter(({ id }) => id > old.id)
      await q.mails.bringForward(later.map(mailOf), dueAt)
    }
  }
}

/**
 * Lets a client secret that a recovery has suspended work again. A secret that is not suspended does not change.
 * @throws invalid_request for an unknown ID
 */
export const confirmCredential: Operation<string, CredentialRecord> = async (platform, trace, actor, credentialId) => {
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const found = await q.credentials.find(credentialId)
    if (found === null) return badInput('credential', 'There is no such credential.')
    const { credential, environment, app } = found
    if (await q.credentials.confirm(credentialId)) {
      await record({ action: 'credential.confirmed', appId: app.id, environment, target: credentialId })
    }
    return credentialRecord({ ...credential, suspendedAt: null }, environment, now)
  })
}

/**
 * Ends a client secret at once, together with the app tokens it minted. Users' grants continue.
 * @throws invalid_request for an unknown ID
 */
export const revokeCredential: Operation<string, CredentialRecord> = async (platform, trace, actor, credentialId) => {
  return await decide(platform, trace, { actor, endsAccess: true }, async ({ q, now, record }) => {
    const found = await q.credentials.find(credentialId)
    if (found === null) return badInput('credential', 'There is no such credential.')
    const { credential, environment, app } = found
    if (await q.credentials.revoke(credentialId, now)) {
      await record({ action: 'credential.revoked', appId: app.id, environment, target: credentialId })
    }
    return credentialRecord({ ...credential, revokedAt: credential.revokedAt ?? now }, environment, now)
  })
}

/** A client secret as its owner sees it, without the secret itself. */
type CredentialRecord = ReturnType<typeof credentialRecord>
/** The record of a new secret: the only place where the secret is shown. */
type NewCredentialRecord = CredentialRecord & { readonly clientSecret: string }

/** The record of a row, with its status at `now` (epoch milliseconds). */
const credentialRecord = (row: Credential, environment: Environment, now: number) => ({
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

/** The ended secrets of one environment, revoked or past their grace period, newest first. With `part`, those whose label or ID contains it. */
export const listEndedCredentials = async (
  platform: Platform,
  clientIds: Readonly<Record<Environment, string>>,
  environment: Environment,
  page: PageRequest,
  part = '',
) => {
  if (!canBeFound(part)) return emptyPage
  const now = platform.clock.now()
  return await newestFirst(page, async (place, length) => {
    const rows = await platform.database.queries.credentials.endedOfClient(
      clientIds[environment],
      now,
      place,
      length,
      part,
    )
    return rows.map((row) => listedSecret(row, environment, now))
  })
}

/** Refuses unless the secret belongs to the app of this slug and the role of the user there may change it. To others it does not exist. */
export const ownsCredential =
  (slug: string, credentialId: string): Rule =>
  async (q, userId, as) => {
    const access = await accessTo(q, slug, userId, as)
    const found = await q.credentials.find(credentialId)
    if (access === null || found?.app.id !== access.app.id) return refuse('route_not_found')
    return refusalOfRole(access.role, rightOverSecrets(found.environment))
  }

/** Whether any app, active or not, has this client ID. Takes equally long if none has. */
export const isClient = async (platform: Platform, clientId: string): Promise<boolean> =>
  environmentOfClientId(clientId) !== null && (await platform.database.queries.apps.idOfClient(clientId)) !== null
