import { refuse } from '../domain/errors.ts'

/** Who uploads: what is shared fairly between apps is also shared fairly between addresses. */
export type Uploader = { readonly app: string; readonly address: string }

/** Lets only so many large uploads be in memory at a time, and few of them be of one app or one address. */
export type UploadSlots = {
  /**
   * Waits for a slot and gives what hands it back, once.
   * @throws unavailable when none was handed back in time, or too many wait already
   */
  take(who: Uploader): Promise<() => void>
}

type Shares = { readonly all: number; readonly app: number; readonly address: number }

/** So many large uploads are in memory at a time; each is up to 10 MiB there. One app or address leaves room for others. */
export const slotShares: Shares = { all: 8, app: 2, address: 4 }
/** So many more may wait; each holds as much in memory as an upload may bring without a slot. */
export const lineShares: Shares = { all: 64, app: 8, address: 16 }

export const createUploadSlots = (longestWaitMs: number): UploadSlots => {
  const slots = createTally(slotShares)
  const line = createTally(lineShares)
  const waiting = new Set<{ readonly who: Uploader; readonly begin: () => void }>()

  const slotOf = (who: Uploader) => {
    let held = true
    return () => {
      if (!held) return
      held = false
      slots.giveBack(who)
      // Whoever has waited longest is first; one whose app or address has its share already lets others pass.
      for (const next of waiting) if (slots.take(next.who)) next.begin()
    }
  }
  return {
    take: async (who) => {
      if (slots.take(who)) return slotOf(who)
      if (!line.take(who)) throw refuse('unavailable', { retryAfterSeconds: 5 })
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const leaveLine = () => {
        clearTimeout(timer)
        waiting.delete(next)
        line.giveBack(who)
      }
      const begin = () => {
        leaveLine()
        resolve(slotOf(who))
      }
      const next = { who, begin }
      const timer = setTimeout(() => {
        leaveLine()
        reject(refuse('unavailable', { retryAfterSeconds: 1 }))
      }, longestWaitMs)
      waiting.add(next)
      return await promise
    },
  }
}

/** Counts what all, each app and each address have, and gives nobody more than their share. Keeps nothing of who has none. */
const createTally = (shares: Shares) => {
  const taken = new Map<string, number>()
  const placesOf = ({ app, address }: Uploader) =>
    [
      ['all', shares.all],
      [`app ${app}`, shares.app],
      [`address ${address}`, shares.address],
    ] as const
  const change = (who: Uploader, by: 1 | -1) => {
    for (const [place] of placesOf(who)) {
      const count = (taken.get(place) ?? 0) + by
      if (count === 0) taken.delete(place)
      else taken.set(place, count)
    }
  }
  return {
    /** Whether there was room; then it is taken. */
    take: (who: Uploader): boolean => {
      const hasRoom = placesOf(who).every(([place, share]) => (taken.get(place) ?? 0) < share)
      if (hasRoom) change(who, 1)
      return hasRoom
    },
    giveBack: (who: Uploader) => change(who, -1),
  }
}
