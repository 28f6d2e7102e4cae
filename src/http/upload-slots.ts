import { createWaitingLine, type WaitingLine } from '../runtime/waiting-line.ts'

/** The app and the address of an upload. Slots are shared fairly between both. */
export type Uploader = { readonly app: string; readonly address: string }

type Shares = { readonly all: number; readonly app: number; readonly address: number }

/** Large uploads that may be in memory at a time, 10 MiB each at most. One app or address leaves room for others. */
export const slotShares: Shares = { all: 8, app: 2, address: 4 }
/** Uploads that may wait for a slot. Each holds as much in memory as an upload may have without one. */
export const lineShares: Shares = { all: 64, app: 8, address: 16 }

export type UploadSlots = WaitingLine<Uploader>

/** Whether one more of this app and address stays within the shares. */
const hasRoom = (who: Uploader, others: readonly Uploader[], shares: Shares): boolean =>
  others.length < shares.all &&
  others.filter(({ app }) => app === who.app).length < shares.app &&
  others.filter(({ address }) => address === who.address).length < shares.address

/** First come, first served, but an upload whose app or address has its share already lets others pass. */
export const createUploadSlots = (longestWaitMs: number): UploadSlots => {
  const running: Uploader[] = []
  return createWaitingLine<Uploader>(
    { longestWaitMs, retryAfterSeconds: 5, monotonicMs: () => performance.now() },
    {
      begin: (who) => {
        const isFree = hasRoom(who, running, slotShares)
        if (isFree) running.push(who)
        return isFree
      },
      end: (who) => void running.splice(running.indexOf(who), 1),
      inOrder: (waiting) => waiting,
      crowdedOut: (waiting) => {
        const [newest, ...others] = waiting.toReversed()
        if (newest === undefined) return null
        const places = others.map(({ place }) => place)
        return hasRoom(newest.place, places, lineShares) ? null : newest
      },
    },
  )
}
