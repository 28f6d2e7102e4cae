import type { AuditEvent } from '../../../db/database.ts'
import { limitKeyOf, parseIpAddress } from '../../domain/ip-address.ts'
import { auditStamp } from './event.ts'
import type { Platform, Trace } from '../platform.ts'

/** Refusals that were counted instead of written. */
type RepeatedRefusals = {
  /** The latest refusal. Where the others differ from it, its target is null and its address a network. */
  readonly event: AuditEvent
  readonly repeated: number
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
}

/**
 * Decides which refusals get an audit row of their own, so that a flood cannot fill the disk: the first hundred of a minute
 * for each kind (an action and a reason) and network. Further ones are counted, and after such a minute all are counted
 * until a minute has at most a hundred. The decision never depends on whether the caller named something that exists, so
 * that the time taken does not tell.
 */
export type RefusalLog = {
  /** True when the caller must write the refusal; otherwise it is counted. Call it once, outside transactions. */
  admit(event: AuditEvent): boolean
  /** Counts a refusal that never gets a row of its own. */
  count(event: AuditEvent): void
  /** Returns and forgets the counts of minutes that have ended by `now` (epoch milliseconds). */
  take(now: number): readonly RepeatedRefusals[]
  /** Takes back counts that could not be written. */
  putBack(counted: readonly RepeatedRefusals[]): void
}

const rowsPerMinute = 100
const minuteMs = 60_000
/** How many pairs of kind and network are counted separately. All others count as one network, `several`. */
const keysAtMost = 1_024
/** How many apps and callers are counted separately for each of them. */
const trailsAtMost = 4

type Minute = {
  readonly address: string
  since: number
  refusals: number
  /** The minute before had too many refusals, so this one gets no rows. */
  isFlood: boolean
  readonly counted: Map<string, RepeatedRefusals>
}

/** Stands for the network when there are too many to count separately. */
const severalAddresses = 'several'

export const createRefusalLog = (): RefusalLog => {
  const minutes = new Map<string, Minute>()

  const begin = (key: string, address: string, since: number): Minute => {
    const minute = { address, since, refusals: 0, isFlood: false, counted: new Map() }
    minutes.set(key, minute)
    return minute
  }

  const minuteOf = (event: AuditEvent): Minute => {
    const network = networkOf(event.address)
    const what = `${event.action} ${event.reason}`
    const own = `${what} ${event.actorKind === 'app' ? event.actorId : ''} ${network}`
    const known = minutes.get(own)
    if (known !== undefined) return known
    if (minutes.size < keysAtMost) return begin(own, network, event.at)
    const shared = `${what} ${severalAddresses}`
    return minutes.get(shared) ?? begin(shared, severalAddresses, event.at)
  }

  const add = (minute: Minute, more: RepeatedRefusals): void => {
    const { counted, address } = minute
    const whole = trailOf(more.event)
    const isRoom = counted.has(whole) || counted.size < trailsAtMost
    const trail = isRoom ? whole : ''
    const event = isRoom ? more.event : { ...more.event, ...nobody }
    const before = counted.get(trail)
    counted.set(trail, before === undefined ? { ...more, event } : together(before, { ...more, event }, address))
  }

  return {
    admit: (event) => {
      const minute = minuteOf(event)
      if (hasEnded(minute, event.at)) startMinute(minute, event.at)
      minute.refusals += 1
      if (!minute.isFlood && minute.refusals <= rowsPerMinute) return true
      add(minute, { event, repeated: 1, from: event.at, to: event.at })
      return false
    },
    count: (event) => add(minuteOf(event), { event, repeated: 1, from: event.at, to: event.at }),
    take: (now) => {
      const taken: RepeatedRefusals[] = []
      for (const [key, minute] of minutes) {
        if (!hasEnded(minute, now)) continue
        for (const counted of minute.counted.values()) taken.push(counted)
        minute.counted.clear()
        startMinute(minute, now)
        if (!minute.isFlood) minutes.delete(key)
      }
      return taken
    },
    putBack: (counted) => {
      for (const each of counted) add(minuteOf(each.event), each)
    },
  }
}

/** A minute also ends when the clock was set back. */
const hasEnded = ({ since }: Minute, now: number): boolean => now >= since + minuteMs || now < since

const startMinute = (minute: Minute, now: number): void => {
  minute.isFlood = minute.refusals > rowsPerMinute
  minute.since = now
  minute.refusals = 0
}

/** The network that limits count: for IPv6 the /64, because one host has all of it. */
const networkOf = (address: string): string => {
  const parsed = parseIpAddress(address)
  return parsed === null ? address : limitKeyOf(parsed)
}

const trailOf = ({ actorKind, actorId, appId, environment }: AuditEvent): string =>
  `${actorKind} ${actorId} ${appId} ${environment}`

/** The facts of a refusal that is in no app's trail. */
const nobody = { actorKind: 'anonymous', actorId: null, appId: null, environment: null, target: null } as const

const together = (before: RepeatedRefusals, more: RepeatedRefusals, network: string): RepeatedRefusals => ({
  event: {
    ...more.event,
    target: before.event.target === more.event.target ? more.event.target : null,
    address: before.event.address === more.event.address ? more.event.address : network,
  },
  repeated: before.repeated + more.repeated,
  from: Math.min(before.from, more.from),
  to: Math.max(before.to, more.to),
})

/** How many rows one transaction writes, so that no other write waits for long. */
const rowsAtOnce = 250

/**
 * Writes one row for each kind, address and app whose refusals were counted in minutes that have ended by `now` (epoch
 * milliseconds; Infinity takes all). Counts that cannot be written are kept for the next call.
 */
export const tellRepeatedRefusals = async (platform: Platform, trace: Trace, now: number): Promise<void> => {
  const { refusals, database, clock } = platform
  const counted = refusals.take(now)
  for (let first = 0; first < counted.length; first += rowsAtOnce) {
    const rows = counted.slice(first, first + rowsAtOnce).map(({ event, repeated, from, to }) => {
      const detail = { repeated, from: new Date(from).toISOString(), to: new Date(to).toISOString() }
      const { address } = event
      const stamp = auditStamp(platform, { ...trace, address }, clock.now())
      return Object.assign({}, event, stamp, { detail: JSON.stringify(detail) })
    })
    try {
      await database.transaction(async (q) => {
        for (const row of rows) await q.audit.insert(row)
      })
    } catch (error) {
      refusals.putBack(counted.slice(first))
      throw error
    }
  }
}
