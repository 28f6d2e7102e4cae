import type { AuditEvent } from '../../../db/database.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import type { Platform } from '../platform.ts'

/** What people call something that an event is about, and what leads to its page. */
export type Named =
  | { readonly kind: 'user'; readonly id: string; readonly name: string; readonly email: string }
  | {
      readonly kind: 'app'
      readonly id: string
      readonly name: string
      readonly slug: string
      readonly deleted: boolean
    }
  | { readonly kind: 'version'; readonly id: string; readonly name: string; readonly appId: string }
  | { readonly kind: 'secret'; readonly id: string; readonly name: string }
  | { readonly kind: 'install'; readonly id: string; readonly name: string; readonly place: ResourceKind }
  | { readonly kind: 'resource'; readonly id: string; readonly name: string }
  /** Without an app it is the builder's. */
  | { readonly kind: 'endpoint'; readonly id: string; readonly name: string; readonly appId: string | null }
  | { readonly kind: 'service'; readonly id: string; readonly name: string }

/** By ID. What no longer exists is not in it. */
export type Names = ReadonlyMap<string, Named>

type EventIds = Pick<AuditEvent, 'appId' | 'actorId' | 'target' | 'detail'>

/**
 * The names of everything that these events mention, in one query for each kind of thing, however many events there are. The
 * members of an app are told no names of installs, websites and stores; other people are not in the events that they see.
 */
export const namesOf = async (
  { database }: Platform,
  events: readonly EventIds[],
  reader: 'operators' | 'members',
): Promise<Names> => {
  const q = database.queries.names
  const ids = [...new Set(events.flatMap(idsIn))]
  const starting = (prefix: string) => ids.filter((id) => id.startsWith(prefix))
  const [installs, places] = reader === 'operators' ? [starting('ins_'), starting('res_')] : [[], []]
  const clientIds = ids.filter((id) => environmentOfClientId(id) !== null)
  const found: readonly (readonly Named[])[] = await Promise.all([
    some(starting('usr_'), async (of) =>
      (await q.users(of)).map(({ id, name, email }) => ({ kind: 'user', id, name, email })),
    ),
    some(starting('app_'), async (of) =>
      (await q.apps(of)).map(({ id, name, slug, deletedAt }) => ({
        kind: 'app',
        id,
        name,
        slug,
        deleted: deletedAt !== null,
      })),
    ),
    some(starting('ver_'), async (of) =>
      (await q.versions(of)).map(({ id, name, appId }) => ({ kind: 'version', id, name, appId })),
    ),
    some(starting('crd_'), async (of) =>
      (await q.credentials(of)).map(({ id, name }) => ({ kind: 'secret', id, name: name ?? '' })),
    ),
    some(installs, async (of) =>
      (await q.installs(of)).map(({ id, name, kind }) => ({ kind: 'install', id, name, place: kind })),
    ),
    some(places, async (of) => (await q.resources(of)).map(({ id, name }) => ({ kind: 'resource', id, name }))),
    some(starting('whk_'), async (of) =>
      (await q.endpoints(of)).map(({ id, name, appId }) => ({ kind: 'endpoint', id, name, appId })),
    ),
    some(starting('svk_'), async (of) =>
      (await q.serviceKeys(of)).map(({ id, name }) => ({ kind: 'service', id, name })),
    ),
    some(clientIds, async (of) =>
      (await q.clients(of)).map(({ id, name, slug }) => ({ kind: 'app', id, name, slug, deleted: false })),
    ),
  ])
  return new Map(found.flat().map((named) => [named.id, named]))
}

const some = async (ids: readonly string[], read: (ids: readonly string[]) => Promise<readonly Named[]>) =>
  ids.length === 0 ? [] : await read(ids)

/** The IDs that an event mentions: a prefix and 32 hex digits, or a client ID. */
const idsIn = ({ appId, actorId, target, detail }: EventIds): readonly string[] => [
  ...[appId, actorId, target].filter((id) => id !== null),
  ...(detail?.match(/\b[a-z]{3}_[0-9a-f]{32}\b/g) ?? []),
]
