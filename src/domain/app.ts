import { type PlatformError, refuse } from './errors.ts'

/** While an app is suspended, its credentials and tokens do not work. Activating it restores those that have not expired. */
export const appStatuses = ['active', 'suspended'] as const
export type AppStatus = (typeof appStatuses)[number]

/** Why an app does nothing now, which its users read too. */
export const whyInactive = ({ deletedAt }: { readonly deletedAt: number | null }): PlatformError =>
  refuse('app_inactive', { message: deletedAt === null ? 'The app is suspended.' : 'The app was deleted.' })

/** Who may create apps in the console: everyone who is signed in, or operators alone (contract section 5). */
export const appCreators = ['everyone', 'operators'] as const
export type AppCreators = (typeof appCreators)[number]

/** How long a deleted app can be restored. After that the purge removes it. */
const undeletableForMs = 7 * 24 * 3600 * 1000
/** Whether an app can still be restored; both times are epoch milliseconds. */
export const isUndeletable = (deletedAt: number, nowMs: number): boolean => nowMs < deletedAt + undeletableForMs
/** Apps that were deleted at this moment or before are removed by the purge. */
export const purgeableSince = (nowMs: number): number => nowMs - undeletableForMs

/** A credential, a redirect URI and a grant belong to one environment; they never mix (contract section 2). */
export const environments = ['development', 'production'] as const
export type Environment = (typeof environments)[number]
