import type { AuditEvent, Queries } from '../../../db/database.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import type { Platform } from '../platform.ts'

/** What people call something that an event is about, and what leads to its page. */
export type Named = Awaited<ReturnType<Queries['names'][keyof Queries['names']]>>[number]

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
  const some = async (find: (ids: readonly string[]) => Promise<readonly Named[]>, isOfIt: (id: string) => boolean) => {
    const of = ids.filter(isOfIt)
    return of.length === 0 ? [] : await find(of)
  }
  const found = await Promise.all([
    some(q.user, starting('usr_')),
    some(q.app, starting('app_')),
    some(q.client, (id) => environmentOfClientId(id) !== null),
    some(q.version, starting('ver_')),
    some(q.secret, starting('crd_')),
    some(q.endpoint, starting('whk_')),
    some(q.service, starting('svk_')),
    ...(reader === 'operators' ? [some(q.install, starting('ins_')), some(q.resource, starting('res_'))] : []),
  ])
  return new Map(found.flat().map((named) => [named.id, named]))
}

const starting = (prefix: string) => (id: string) => id.startsWith(prefix)

/** The IDs that an event mentions: a prefix and 32 hex digits, or a client ID. */
const idsIn = ({ appId, actorId, target, detail }: EventIds): readonly string[] => [
  ...[appId, actorId, target].filter((id) => id !== null),
  ...(detail?.match(/\b[a-z]{3}_[0-9a-f]{32}\b/g) ?? []),
]
