import type { AuditEvent } from '../../../db/database.ts'
import { limitKeyOf, parseIpAddress } from '../../domain/ip-address.ts'

/** Refusals that were counted in the place of rows. */
type RepeatedRefusals = {
  /** The latest of them; its target and address are null and a network where they differ. */
  readonly event: AuditEvent
  readonly repeated: number
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
}

/**
 * Says which refusals get a row of their own: of one kind (an action and a reason) from one address the first hundred of a
 * minute. The others are counted, and so are all of the minutes after it while they go on like that. What decides never
 * depends on whether the caller named something that exists, so that the time taken does not tell.
 */
export type RefusalLog = {
  /** True when the refusal is to be written; otherwise it is counted here. */
  admit(event: AuditEvent): boolean
  /** Counts a refusal that is not worth a row, however few there are. */
  count(event: AuditEvent): void
  /** Hands over what was counted in minutes that are over at this moment (epoch milliseconds). */
  take(now: number): readonly RepeatedRefusals[]
  /** Takes back what could not be written. */
  putBack(counted: readonly RepeatedRefusals[]): void
}

const rowsPerMinute = 100
const minuteMs = 60_000
/** Kinds and addresses that are told apart; all others count as one address. */
const keysAtMost = 1_024
/** Apps and callers that are told apart for each. */
const trailsAtMost = 4

type Minute = {
  readonly address: string
  since: number
  refusals: number
  /** The minute before had too many: this one gets no rows. */
  isFlood: boolean
  readonly counted: Map<string, RepeatedRefusals>
}

/** In the place of an address, when too many addresses were refused to tell them apart. */
const severalAddresses = 'several'

export const createRefusalLog = (): RefusalLog => {
  const minutes = new Map<string, Minute>()

  const minuteOf = (event: AuditEvent): Minute => {
    const network = networkOf(event.address)
    const kind = `${event.action} ${event.reason} ${event.actorKind === 'app' ? event.actorId : ''}`
    const known = minutes.get(`${kind} ${network}`)
    if (known !== undefined) return known
    const address = minutes.size < keysAtMost ? network : severalAddresses
    const key = address === network ? `${kind} ${network}` : `${event.action} ${event.reason} ${severalAddresses}`
    const shared = minutes.get(key)
    if (shared !== undefined) return shared
    const minute = { address, since: event.at, refusals: 0, isFlood: false, counted: new Map() }
    minutes.set(key, minute)
    return minute
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
      if (isOver(minute, event.at)) startAgain(minute, event.at)
      minute.refusals += 1
      if (!minute.isFlood && minute.refusals <= rowsPerMinute) return true
      add(minute, { event, repeated: 1, from: event.at, to: event.at })
      return false
    },
    count: (event) => add(minuteOf(event), { event, repeated: 1, from: event.at, to: event.at }),
    take: (now) => {
      const taken: RepeatedRefusals[] = []
      for (const [key, minute] of minutes) {
        if (!isOver(minute, now)) continue
        for (const counted of minute.counted.values()) taken.push(counted)
        minute.counted.clear()
        startAgain(minute, now)
        if (!minute.isFlood) minutes.delete(key)
      }
      return taken
    },
    putBack: (counted) => {
      for (const each of counted) add(minuteOf(each.event), each)
    },
  }
}

/** Also when the clock was set back. */
const isOver = ({ since }: Minute, now: number): boolean => now >= since + minuteMs || now < since

const startAgain = (minute: Minute, now: number): void => {
  minute.isFlood = minute.refusals > rowsPerMinute
  minute.since = now
  minute.refusals = 0
}

/** For IPv6 the /64, which one host owns whole. */
const networkOf = (address: string): string => {
  const parsed = parseIpAddress(address)
  return parsed === null ? address : limitKeyOf(parsed)
}

const trailOf = ({ actorKind, actorId, appId, environment }: AuditEvent): string =>
  `${actorKind} ${actorId} ${appId} ${environment}`

/** What is said of a refusal in the trail of none of its callers. */
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
