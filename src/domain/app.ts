/** While an app is suspended none of its credentials and tokens works; activating gives back what has not expired. */
export const appStatuses = ['active', 'suspended'] as const
export type AppStatus = (typeof appStatuses)[number]

/** For how long a deleted app can be brought back. After that the purge removes it. */
const undeletableForMs = 7 * 24 * 3600 * 1000
/** Whether an app that was deleted at this moment can still be brought back; both are epoch milliseconds. */
export const isUndeletable = (deletedAt: number, nowMs: number): boolean => nowMs < deletedAt + undeletableForMs
/** The latest deletion that the purge follows up at this moment. */
export const purgeableSince = (nowMs: number): number => nowMs - undeletableForMs

/** A credential, a redirect URI and a grant belong to one environment; they never mix (contract section 2). */
export const environments = ['development', 'production'] as const
export type Environment = (typeof environments)[number]
