import { isWellFormedText } from './text.ts'

/** The life of a version (contract section 3). Content is immutable from `submitted` on. */
export const versionStatuses = ['draft', 'submitted', 'approved', 'active', 'superseded', 'rejected'] as const
export type VersionStatus = (typeof versionStatuses)[number]

/** Each step with the only status it may start from and the one it leads to. */
export const versionSteps = {
  submit: { from: 'draft', to: 'submitted' },
  withdraw: { from: 'submitted', to: 'draft' },
  approve: { from: 'submitted', to: 'approved' },
  reject: { from: 'submitted', to: 'rejected' },
  activate: { from: 'approved', to: 'active' },
} as const satisfies Record<string, { from: VersionStatus; to: VersionStatus }>

export type VersionStep = keyof typeof versionSteps

/** Only a version that was live before can become live again by a rollback. */
export const isProductionRollbackTarget = (status: VersionStatus): boolean => status === 'superseded'

/**
 * The largest manifest, as JSON in UTF-8. The 16 MiB of an upload are for its artifact: lists and reviews hold many manifests
 * whole, and a person has to read them.
 */
export const manifestLimitBytes = 256 * 1024

/** The largest upload (contract section 3), and the pieces in which it is stored. */
export const artifactLimits = { bytes: 10 * 1024 * 1024, chunkBytes: 256 * 1024 } as const

const number = '(?:0|[1-9]\\d*)'
const identifier = `(?:${number}|\\d*[A-Za-z-][0-9A-Za-z-]*)`
const build = '[0-9A-Za-z-]+'
/** SemVer 2.0.0: numbers without leading zeros, then optional pre-release and build identifiers. Nothing is counted. */
const semanticVersionForm = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-${identifier}(?:\\.${identifier})*)?(?:\\+${build}(?:\\.${build})*)?$`,
)
const longestSemanticVersion = 64

/** At most 64 characters (contract section 3), so that no text makes the search long. */
export const isSemanticVersion = (text: string): boolean =>
  text.length <= longestSemanticVersion && semanticVersionForm.test(text)

/** Why a version was rejected: what its owner reads, and what there is to mend. */
type RejectionText = {
  readonly message: string
  readonly items: readonly { readonly path: string; readonly message: string }[]
}

const longestRejectionText = 2_000
const mostRejectionItems = 100

/** What is wrong with it, as a sentence; null when nothing is. */
export const rejectionFault = ({ message, items }: RejectionText): string | null => {
  if (message.trim() === '') return 'A rejection says why: the message is empty.'
  if (items.length > mostRejectionItems) return `A rejection has at most ${mostRejectionItems} items.`
  const texts = [message, ...items.flatMap((item) => [item.path, item.message])]
  if (texts.some((text) => text.length > longestRejectionText))
    return `A text of a rejection has at most ${longestRejectionText} characters.`
  return texts.every(isWellFormedText) ? null : 'A text of the rejection has broken characters.'
}
