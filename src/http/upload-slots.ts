import { createWaitingLine, type WaitingLine } from '../runtime/waiting-line.ts'

/** The app of an upload, the account that owns the app, and the network that the upload comes from. */
export type Uploader = { readonly app: string; readonly account: string; readonly network: string }

type Shares = { readonly all: number } & { readonly [Part in keyof Uploader]: number }

/** Large uploads that may be in memory at a time, 10 MiB each at most. One app, account or network leaves room for others. */
export const slotShares: Shares = { all: 8, app: 2, account: 4, network: 4 }
/** Uploads that may wait for a slot. Each holds as much in memory as an upload may have without one. */
export const lineShares: Shares = { all: 64, app: 8, account: 16, network: 16 }
const parts = ['app', 'account', 'network'] as const

export type UploadSlots = WaitingLine<Uploader>

/** Whether one more of this uploader stays within the shares. */
const hasRoom = (who: Uploader, others: readonly Uploader[], shares: Shares): boolean =>
  others.length < shares.all &&
  parts.every((part) => others.filter((other) => other[part] === who[part]).length < shares[part])

/** How long a large upload waits for a slot. */
const longestSlotWaitMs = 20_000

/** First come, first served, but an upload whose app, account or network has its share already lets others pass. */
export const createUploadSlots = (longestWaitMs = longestSlotWaitMs): UploadSlots => {
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
