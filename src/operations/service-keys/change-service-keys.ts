import type { ServiceKey } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { recordIdOfKey } from '../../domain/identifier.ts'
import { typedName } from '../../domain/entered-name.ts'
import { pick } from '../../domain/pick.ts'
import {
  areNarrow,
  maximumKeyDays,
  maximumNetworks,
  parseStoredRights,
  readNetworks,
  readRights,
  serviceKeyStatus,
} from '../../domain/service-key.ts'
import { badInput, decide, endOfGrace, newSecret, type Operation, refusalOfFaults } from '../decide.ts'
import { newestFirst, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

/** A service key as operators see it, without its secret. */
export type ServiceKeyRecord = ReturnType<typeof serviceKeyRecord>
/** The record of a new key: the only place where its secret is shown. */
type NewServiceKeyRecord = ServiceKeyRecord & { readonly secret: string }

/** The record of a row, with its status at `now` (epoch milliseconds). */
const serviceKeyRecord = (row: ServiceKey, now: number) => ({
  id: row.id,
  name: row.name,
  rights: parseStoredRights(row.rights),
  networks: row.networks === '' ? [] : row.networks.split(' '),
  status: serviceKeyStatus(row, now),
  ...pick(row, 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'),
})

type NewServiceKey = {
  readonly name: string
  readonly rights: readonly string[]
  readonly networks: readonly string[]
  /** Null: until it is rotated or revoked. */
  readonly expiresInDays: number | null
}

/**
 * Creates a service key. The secret is only ever in this answer.
 * @throws invalid_request
 */
export const createServiceKey: Operation<NewServiceKey, NewServiceKeyRecord> = async (
  platform,
  trace,
  actor,
  { name: typed, rights: named, networks, expiresInDays },
) => {
  const { name, fault } = typedName(typed)
  const { rights, fault: rightsFault } = readRights(named)
  const { networks: places, wrong } = readNetworks(networks)
  const isDays = expiresInDays === null || isWholeDays(expiresInDays)
  const operates = rights.includes('operate')
  const refusal = refusalOfFaults({
    name: fault,
    rights: rightsFault,
    networks:
      wrong !== null
        ? `Entry ${wrong} of the networks is neither an address such as 192.0.2.7 nor a network such as 10.0.0.0/8.`
        : places.length > maximumNetworks
          ? `A key has at most ${maximumNetworks} networks.`
          : operates && !areNarrow(places)
            ? 'A key with the right operate works from named networks only, each no wider than /8, such as 192.0.2.7 or 10.0.0.0/8.'
            : null,
    expiresInDays: !isDays
      ? `Write a whole number from 1 to ${maximumKeyDays}, or nothing for a key that does not expire.`
      : operates && expiresInDays === null
        ? `A key with the right operate must expire: after 1 to ${maximumKeyDays} days.`
        : null,
  })
  if (refusal !== null) throw refusal
  const now = platform.clock.now()
  const chosenEnd = expiresInDays === null ? null : now + expiresInDays * 86_400_000
  const minted = mintServiceKey(platform, now)
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const row = minted.rowFor({ name, rights: rights.join(' '), networks: places.join(' '), chosenEnd })
    await q.serviceKeys.insert(row)
    await record({ action: 'service_key.created', target: row.id, detail: { rights, networks: places } })
    return { ...serviceKeyRecord(row, now), secret: minted.secret }
  })
}

const isWholeDays = (days: number): boolean => Number.isInteger(days) && days >= 1 && days <= maximumKeyDays

/** A new random key, made before the transaction that stores its hash. `now` is epoch milliseconds. */
const mintServiceKey = (platform: Platform, now: number) => {
  const { key, secret, hash: secretHash } = newSecret(platform, 'serviceKey', now)
  const id = recordIdOfKey('svk_', key)
  const unused = { createdAt: now, revokedAt: null, suspendedAt: null, lastUsedAt: null }
  return {
    secret,
    rowFor: (chosen: Pick<ServiceKey, 'name' | 'rights' | 'networks' | 'chosenEnd'>): ServiceKey => ({
      ...chosen,
      expiresAt: chosen.chosenEnd,
      ...unused,
      id,
      secretHash,
    }),
  }
}

type Rotation = { readonly id: string; readonly graceHours: number }

/**
 * Creates a key with the same name, rights and networks, and with an ID of its own. The old one ends after the grace period;
 * with 0 hours at once. A chosen end stays, and the end of a grace period
 * is not one: a key that is rotated twice has two successors that live as long.
 * @throws invalid_request for a key that has ended
 */
export const rotateServiceKey: Operation<Rotation, NewServiceKeyRecord> = async (platform, trace, actor, input) => {
  const now = platform.clock.now()
  const endsAt = endOfGrace(input.graceHours, now)
  const minted = mintServiceKey(platform, now)
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const old = await q.serviceKeys.find(input.id)
    if (old === null || serviceKeyStatus(old, now) === 'ended') return unknownKey()
    const row = minted.rowFor(pick(old, 'name', 'rights', 'networks', 'chosenEnd'))
    await q.serviceKeys.endAt([old], endsAt)
    await q.serviceKeys.insert(row)
    const detail = { replaces: old.id, graceHours: input.graceHours }
    await record({ action: 'service_key.rotated', target: row.id, detail })
    return { ...serviceKeyRecord(row, now), secret: minted.secret }
  })
}

/** Ends a service key at once. @throws invalid_request for an unknown ID */
export const revokeServiceKey: Operation<string, ServiceKeyRecord> = async (platform, trace, actor, id) =>
  await decide(platform, trace, { actor, endsAccess: true }, async ({ q, now, record }) => {
    const found = await q.serviceKeys.find(id)
    if (found === null) return unknownKey()
    if (!(await q.serviceKeys.revoke(id, now))) return serviceKeyRecord(found, now)
    await record({ action: 'service_key.revoked', target: id })
    return serviceKeyRecord({ ...found, revokedAt: now }, now)
  })

/** Lets a key that a recovery has suspended work again. @throws invalid_request for an unknown ID */
export const confirmServiceKey: Operation<string, ServiceKeyRecord> = async (platform, trace, actor, id) =>
  await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const found = await q.serviceKeys.find(id)
    if (found === null) return unknownKey()
    if (await q.serviceKeys.confirm(id)) await record({ action: 'service_key.confirmed', target: id })
    return serviceKeyRecord({ ...found, suspendedAt: null }, now)
  })

const unknownKey = () => badInput('id', 'There is no such service key, or it has ended.')

/** Service keys, live and ended, newest first. */
export const listServiceKeys = async (platform: Platform, page: PageRequest) => {
  const now = platform.clock.now()
  return await newestFirst(page, async (place, rows) =>
    (await platform.database.queries.serviceKeys.list(place, rows)).map((row) => serviceKeyRecord(row, now)),
  )
}

/** How many service keys there are, live and ended. */
export const countServiceKeys = async ({ database }: Platform): Promise<number> =>
  await database.queries.serviceKeys.count()

/** One service key. @throws route_not_found if there is none of this ID */
export const serviceKeyOf = async (platform: Platform, id: string): Promise<ServiceKeyRecord> => {
  const row = await platform.database.queries.serviceKeys.find(id)
  if (row === null) throw refuse('route_not_found')
  return serviceKeyRecord(row, platform.clock.now())
}
