import { type PlatformError, refuse } from '../../../domain/errors.ts'
import type { VersionStatus } from '../../../domain/version.ts'

/** Why a decision came too late, in words for who decided. */
const words: Readonly<Record<VersionStatus, string>> = {
  draft: 'The developer has withdrawn this version. Your decision changed nothing.',
  submitted:
    'This version, or the one that is live, has changed since you looked. Nothing was decided: look again, then decide.',
  approved: 'This version has been approved already. Your decision changed nothing.',
  active: 'This version is live already. Your decision changed nothing.',
  superseded: 'This version has been live and superseded already. Your decision changed nothing.',
  rejected: 'This version has been rejected already. Your decision changed nothing.',
}

/** The refusal of a decision on a version that is no longer as it was shown. */
export const notAsShown = (status: VersionStatus): PlatformError =>
  refuse('version_not_eligible', { message: words[status], details: { status } })
