import { refuse } from '../domain/errors.ts'

/*
 * The one way to wait for a turn at work that only a few callers can do at once: large uploads (http/upload-body.ts)
 * and password hashes (passwords.ts). The line keeps the callers and their deadlines; its rules decide who may begin,
 * who comes next, and who has to leave.
 */

/** Who waits, and since when by the monotonic clock. */
export type Waiting<Place> = { readonly place: Place; readonly since: number }

type LineRules<Place> = {
  /** Takes a turn for this caller if one is free. */
  begin(place: Place): boolean
  /** Gives the turn back. */
  end(place: Place): void
  /** Those who wait, the next one first. They are given in the order of arrival. */
  inOrder(waiting: readonly Waiting<Place>[]): readonly Waiting<Place>[]
  /** Who has to leave because the last of these has joined; null when there is room for all. */
  crowdedOut(waiting: readonly Waiting<Place>[]): Waiting<Place> | null
  /** Called for everyone who leaves without a turn. */
  turnedAway?(place: Place): void
}

export type WaitingLine<Place> = {
  /**
   * Waits for a turn and returns the function that ends it, which has an effect once.
   * @throws unavailable when the line is full, or after too long a wait
   */
  enter(place: Place): Promise<() => void>
}

type LineOptions = {
  readonly longestWaitMs: number
  /** When callers who are turned away may try again. */
  readonly retryAfterSeconds: number
  readonly monotonicMs: () => number
}

export const createWaitingLine = <Place>(
  { longestWaitMs, retryAfterSeconds, monotonicMs }: LineOptions,
  rules: LineRules<Place>,
): WaitingLine<Place> => {
  const line = new Map<Waiting<Place>, { readonly begin: () => void; readonly turnAway: () => void }>()

  const turnOf = (place: Place) => {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      rules.end(place)
      for (const next of rules.inOrder([...line.keys()])) if (rules.begin(next.place)) line.get(next)?.begin()
    }
  }
  return {
    enter: async (place) => {
      if (rules.begin(place)) return turnOf(place)
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const waiting = { place, since: monotonicMs() }
      const leave = () => {
        clearTimeout(timer)
        line.delete(waiting)
      }
      const begin = () => {
        leave()
        resolve(turnOf(place))
      }
      const turnAway = () => {
        leave()
        rules.turnedAway?.(place)
        reject(refuse('unavailable', { retryAfterSeconds }))
      }
      const timer = setTimeout(turnAway, longestWaitMs)
      line.set(waiting, { begin, turnAway })
      const crowdedOut = rules.crowdedOut([...line.keys()])
      if (crowdedOut !== null) line.get(crowdedOut)?.turnAway()
      return await promise
    },
  }
}

/** Who waits in a fair line. The texts must have bounded length. */
export type PlaceInLine = {
  readonly network: string
  readonly account: string
  /** The browser or session by which the server knows this caller; null when it does not. */
  readonly knownAs: string | null
}

/** With more waiting callers, the last would give up before their turn. */
const longestLine = 60
/** How long a network that has failed comes after others. */
const failureLastsMs = 5 * 60_000
/** Networks, accounts and browsers that are remembered. Beyond that, the one that was set the longest ago is forgotten. */
const mostRemembered = 8_192

/** Callers that the server knows, those from networks without a recent failure, and all others. */
const lanes = ['known', 'clean', 'rest'] as const
type Lane = (typeof lanes)[number]
/** Which lane has the next turn, in rotation. An empty lane leaves its turn to the first other one with callers. */
const turns: readonly Lane[] = ['known', 'clean', 'known', 'clean', 'known', 'clean', 'known', 'rest']
/** So many places of a full line nobody takes from a lane: as large a part as it has of the turns. */
const placesOf = (lane: Lane): number =>
  Math.floor((longestLine * turns.filter((turn) => turn === lane).length) / turns.length)

type InLine = Waiting<PlaceInLine>
/** Within a lane the smaller number comes first, compared from left to right. */
type Rank = { readonly lane: Lane; readonly order: readonly number[]; readonly waiting: InLine }

/**
 * A line for one turn at a time, in which no caller keeps others from their turn by coming often. Known callers have half of
 * the turns, one of each at a time; networks without a recent failure have most of the rest. A full line is shared like the turns:
 * the lane that is the furthest above its share loses its last caller. Within a lane every network and
 * every account has one turn after the other, and networks that were never turned away come before those that were. Among
 * equals the newest comes first: when there are more than can be served, the oldest are about to give up.
 */
export const createFairLine = ({ longestWaitMs, monotonicMs }: Omit<LineOptions, 'retryAfterSeconds'>) => {
  const [networks, accounts, knowns] = [createMemory(), createMemory(), createMemory()]
  let inTurn: PlaceInLine | null = null
  let turn = 0

  const ranks = (line: readonly InLine[]): Rank[] => {
    const [ofNetwork, ofAccount, ofKnown] = [createCount(), createCount(), createCount()]
    return line.map((waiting, arrival) => {
      const { place, since } = waiting
      const [network, account] = [networks.get(place.network), accounts.get(place.account)]
      const before = Math.max(ofNetwork(place.network), ofAccount(place.account))
      if (isKnown(place, since) && ofKnown(place.knownAs ?? '') === 0) {
        return { lane: 'known', order: [0, 0, account.lastTurn, -arrival], waiting }
      }
      const order = [network.turnedAway, before, Math.max(network.lastTurn, account.lastTurn), -arrival]
      return { lane: monotonicMs() - network.failedAt > failureLastsMs ? 'clean' : 'rest', order, waiting }
    })
  }
  const isKnown = ({ knownAs }: PlaceInLine, since: number): boolean =>
    knownAs !== null && knownAs !== inTurn?.knownAs && since > knowns.get(knownAs).failedAt

  const line = createWaitingLine<PlaceInLine>(
    { longestWaitMs, retryAfterSeconds: 10, monotonicMs },
    {
      begin: (place) => {
        if (inTurn !== null) return false
        inTurn = place
        turn += 1
        networks.set(place.network, { lastTurn: turn, turnedAway: 0 })
        accounts.set(place.account, { lastTurn: turn })
        return true
      },
      end: () => {
        inTurn = null
      },
      inOrder: (waiting) => {
        const due = turns[turn % turns.length] ?? 'known'
        const order = byRank([due, ...lanes.filter((lane) => lane !== due)])
        return ranks(waiting)
          .toSorted(order)
          .map((rank) => rank.waiting)
      },
      crowdedOut: (waiting) => (waiting.length > longestLine ? lastOf(ranks(waiting)) : null),
      turnedAway: (place) => {
        networks.set(place.network, { turnedAway: networks.get(place.network).turnedAway + 1 })
      },
    },
  )
  return {
    enter: line.enter,
    /** For a while, callers from this network come after others. Callers who wait by the same browser are no longer known. */
    failed: ({ network, knownAs }: PlaceInLine): void => {
      networks.set(network, { failedAt: monotonicMs() })
      if (knownAs !== null) knowns.set(knownAs, { failedAt: monotonicMs() })
    },
  }
}

const byRank =
  (laneOrder: readonly Lane[]) =>
  (one: Rank, other: Rank): number =>
    laneOrder.indexOf(one.lane) - laneOrder.indexOf(other.lane) || inLane(one, other)
const inLane = (one: Rank, other: Rank): number => {
  const differing = one.order.findIndex((value, index) => value !== other.order[index])
  return (one.order[differing] ?? 0) - (other.order[differing] ?? 0)
}

/** The last of the lane that is the furthest above its share. Without sorting them all: this runs for every caller of a flood. */
const lastOf = (ranks: readonly Rank[]): InLine | null => {
  const above = (lane: Lane) => ranks.filter((rank) => rank.lane === lane).length - placesOf(lane)
  const fullest = lanes.reduce((most, lane) => (above(lane) >= above(most) ? lane : most))
  return (
    ranks
      .filter(({ lane }) => lane === fullest)
      .reduce<Rank | null>((last, rank) => (last === null || inLane(last, rank) < 0 ? rank : last), null)?.waiting ??
    null
  )
}

/** Returns how often it was called with the name before. */
const createCount = () => {
  const counts = new Map<string, number>()
  return (name: string): number => {
    const before = counts.get(name) ?? 0
    counts.set(name, before + 1)
    return before
  }
}

type Remembered = { readonly failedAt: number; readonly lastTurn: number; readonly turnedAway: number }
const nothing: Remembered = { failedAt: Number.NEGATIVE_INFINITY, lastTurn: 0, turnedAway: 0 }

const createMemory = () => {
  const facts = new Map<string, Remembered>()
  const get = (name: string): Remembered => facts.get(name) ?? nothing
  return {
    get,
    set: (name: string, change: Partial<Remembered>): void => {
      const changed = { ...get(name), ...change }
      facts.delete(name) // set anew, so that the map is ordered by when each was set
      facts.set(name, changed)
      const oldest = facts.size > mostRemembered ? facts.keys().next().value : undefined
      if (oldest !== undefined) facts.delete(oldest)
    },
  }
}
