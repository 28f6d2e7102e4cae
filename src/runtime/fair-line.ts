import { refuse } from '../domain/errors.ts'

/** Who waits for a turn. Texts of bounded length, whatever callers send. */
export type PlaceInLine = {
  readonly network: string
  readonly account: string
  /** The browser or session by which the server knows this caller; null for one that it does not know. */
  readonly knownAs: string | null
}

export type FairLine = {
  /**
   * Resolves when it is this caller's turn; `leave` ends the turn. Null is the place of an operator.
   * @throws unavailable when the line is full of callers who come first, or after too long a wait
   */
  enter(place: PlaceInLine | null): Promise<void>
  leave(place: PlaceInLine | null): void
  /** Callers from this network stand behind others for a while; those who wait by the same browser are known no longer. */
  failed(place: PlaceInLine): void
}

type FairLineOptions = {
  /** Turns that may be taken at the same time. */
  readonly parallel: number
  readonly longestWaitMs: number
  readonly monotonicMs: () => number
}

/** More could not be served while anybody still waits for the answer. */
const longestLine = 60
/** For how long a network that has failed stands behind others. */
const failureLastsMs = 5 * 60_000
/** Networks, accounts and browsers that are remembered; then the one that was heard of least lately is forgotten. */
const mostRemembered = 8_192

/** Callers that the server knows, those from networks that have not failed lately, and all others. */
const lanes = ['known', 'clean', 'rest'] as const
type Lane = (typeof lanes)[number]
/** Whose turn it is, over and over. A lane in which nobody waits leaves its turn to the first of the others. */
const turns: readonly Lane[] = ['known', 'clean', 'known', 'clean', 'known', 'clean', 'known', 'rest']

type Waiting = {
  readonly place: PlaceInLine | null
  readonly since: number
  readonly begin: () => void
  readonly turnAway: () => void
}

/** Within a lane a smaller number comes first, from left to right. */
type Rank = { readonly lane: Lane; readonly order: readonly number[]; readonly waiting: Waiting }

/**
 * A line in which nobody keeps others from their turn by coming often. Known callers have half of the turns, one of each
 * at a time; networks without a recent failure have most of what is left. Within a lane each network and each account
 * has one turn after the other, and networks that were never turned away come before those that were. Among equals the
 * newest comes first: when there are more than can be served, the oldest are about to give up.
 */
export const createFairLine = ({ parallel, longestWaitMs, monotonicMs }: FairLineOptions): FairLine => {
  const [networks, accounts, knowns] = [createMemory(), createMemory(), createMemory()]
  const running = new Set<string>()
  let line: Waiting[] = []
  let taken = 0
  let turn = 0

  /** Of everybody who waits, in the order of arrival. */
  const ranks = (): Rank[] => {
    const [ofNetwork, ofAccount, ofKnown] = [createCount(), createCount(), createCount()]
    return line.map((waiting, arrival) => {
      const { place, since } = waiting
      if (place === null) return { lane: 'known', order: [0, 0, 0, -arrival], waiting }
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
    knownAs !== null && !running.has(knownAs) && since > knowns.get(knownAs).failedAt

  const turnAway = (waiting: Waiting): void => {
    line = line.filter((other) => other !== waiting)
    const network = waiting.place?.network
    if (network !== undefined) networks.set(network, { turnedAway: networks.get(network).turnedAway + 1 })
    waiting.turnAway()
  }
  const begin = ({ place, begin: resolve }: Waiting): void => {
    taken += 1
    turn += 1
    if (place !== null) {
      networks.set(place.network, { lastTurn: turn, turnedAway: 0 })
      accounts.set(place.account, { lastTurn: turn })
      if (place.knownAs !== null) running.add(place.knownAs)
    }
    resolve()
  }
  const next = (): void => {
    for (const waiting of line.filter(({ since }) => monotonicMs() - since > longestWaitMs)) turnAway(waiting)
    const all = ranks()
    const due = turns[turn % turns.length] ?? 'known'
    const lane = [due, ...lanes].find((one) => all.some((rank) => rank.lane === one))
    const first = foremost(
      all.filter((rank) => rank.lane === lane),
      comesBefore,
    )
    if (first === null) return
    line = line.filter((other) => other !== first.waiting)
    begin(first.waiting)
  }

  return {
    enter: async (place) =>
      await new Promise<void>((resolve, reject) => {
        const waiting = {
          place,
          since: monotonicMs(),
          begin: resolve,
          turnAway: () => reject(refuse('unavailable', { retryAfterSeconds: 10 })),
        }
        if (taken < parallel) return begin(waiting)
        line.push(waiting)
        const last = line.length > longestLine ? foremost(ranks(), (one, other) => comesBefore(other, one)) : null
        if (last !== null) turnAway(last.waiting)
      }),
    leave: (place) => {
      taken -= 1
      if (place !== null && place.knownAs !== null) running.delete(place.knownAs)
      if (taken < parallel) next()
    },
    failed: ({ network, knownAs }) => {
      networks.set(network, { failedAt: monotonicMs() })
      if (knownAs !== null) knowns.set(knownAs, { failedAt: monotonicMs() })
    },
  }
}

const comesBefore = (one: Rank, other: Rank): boolean => {
  if (one.lane !== other.lane) return lanes.indexOf(one.lane) < lanes.indexOf(other.lane)
  const differing = one.order.findIndex((value, index) => value !== other.order[index])
  return (one.order[differing] ?? 0) < (other.order[differing] ?? 0)
}

const foremost = (ranks: readonly Rank[], isBefore: (one: Rank, other: Rank) => boolean): Rank | null =>
  ranks.reduce<Rank | null>((best, rank) => (best === null || isBefore(rank, best) ? rank : best), null)

/** Gives how often it was asked for the name before. */
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
      facts.delete(name) // the last one set is the last to be forgotten
      facts.set(name, changed)
      const oldest = facts.size > mostRemembered ? facts.keys().next().value : undefined
      if (oldest !== undefined) facts.delete(oldest)
    },
  }
}
