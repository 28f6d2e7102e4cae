import { type TypedName, typedFileName } from './entered-name.ts'
import { isWellFormedText } from './text.ts'

/** The states of a version (contract section 3). Its content is immutable from `submitted` on. */
export const versionStatuses = ['draft', 'submitted', 'approved', 'active', 'superseded', 'rejected'] as const
export type VersionStatus = (typeof versionStatuses)[number]

/** Who writes about a version under review: operators ask, members of the app answer. */
export const reviewSides = ['operators', 'members'] as const
export type ReviewSide = (typeof reviewSides)[number]

/** How long a question or answer may be, in UTF-16 code units, and how many a version may have. */
export const reviewMessageLimits = { text: 2_000, ofVersion: 50 } as const

/** In which states of a version each side may write. What is decided stays as it is. */
export const mayWriteAbout: Readonly<Record<ReviewSide, readonly VersionStatus[]>> = {
  operators: ['submitted', 'approved'],
  members: ['draft', 'submitted', 'approved'],
}

/** Each step with the only status it may start from and the one it leads to. */
export const versionSteps = {
  submit: { from: 'draft', to: 'submitted' },
  withdraw: { from: 'submitted', to: 'draft' },
  approve: { from: 'submitted', to: 'approved' },
  reject: { from: 'submitted', to: 'rejected' },
  activate: { from: 'approved', to: 'active' },
} as const satisfies Record<string, { from: VersionStatus; to: VersionStatus }>

export type VersionStep = keyof typeof versionSteps

/** A rollback can only restore a version that was live before. */
export const isProductionRollbackTarget = (status: VersionStatus): boolean => status === 'superseded'

/**
 * The versions that production can go back to one by one, the live one last (contract section 3). `changes` are all versions that
 * became live, one after the other. A version that becomes live is pushed; one that is in the stack already has been gone back to,
 * and what was live above it is withdrawn.
 */
export const liveStack = (changes: readonly string[]): readonly string[] => {
  const stack: string[] = []
  const places = new Map<string, number>()
  for (const id of changes) {
    const place = places.get(id)
    if (place !== undefined && stack[place] === id) {
      stack.length = place + 1
    } else {
      places.set(id, stack.length)
      stack.push(id)
    }
  }
  return stack
}

/**
 * The largest manifest, as JSON in UTF-8. It is much smaller than the 16 MiB of an upload, because lists and reviews hold
 * many manifests and people read them.
 */
export const manifestLimitBytes = 256 * 1024

/** The largest artifact (contract section 3), and the size of the pieces in which it is stored. */
export const artifactLimits = { bytes: 10 * 1024 * 1024, chunkBytes: 256 * 1024 } as const

/** The longest texts of a version and of a rollback, in UTF-16 code units, and the most scopes that a version may need. */
export const versionLimits = { notes: 10_000, filename: 255, reason: 1_000, scopes: 32 } as const

/** The name of an artifact has no path and no control characters, which the documents of the API say. */
export const artifactNameForm = '^[^/\\\\\\u0000-\\u001f\\u007f]+$'
const artifactNamePattern = new RegExp(artifactNameForm, 'u')

/** The name of an artifact in the spelling that is stored, and why it cannot be used, as a sentence. */
export const artifactName = (text: string): TypedName =>
  text.length <= versionLimits.filename && artifactNamePattern.test(text)
    ? typedFileName(text)
    : { name: '', fault: 'The file has a name that an artifact cannot have. Rename it.' }

const number = '(?:0|[1-9]\\d*)'
const identifier = `(?:${number}|\\d*[A-Za-z-][0-9A-Za-z-]*)`
const build = '[0-9A-Za-z-]+'
/** SemVer 2.0.0: numbers without leading zeros, then optional pre-release and build identifiers. */
const semanticVersionForm = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-${identifier}(?:\\.${identifier})*)?(?:\\+${build}(?:\\.${build})*)?$`,
)
const longestSemanticVersion = 64

/** At most 64 characters (contract section 3), which also bounds the time of the match. */
export const isSemanticVersion = (text: string): boolean =>
  text.length <= longestSemanticVersion && semanticVersionForm.test(text)

/** Why a version was rejected: a message for its owner, and the places to correct. */
type RejectionText = {
  readonly message: string
  readonly items: readonly { readonly path: string; readonly message: string }[]
}

const longestRejectionText = 2_000
const mostRejectionItems = 100

/** The fault of a rejection, as a sentence; null when it has none. */
export const rejectionFault = ({ message, items }: RejectionText): string | null => {
  if (message.trim() === '') return 'A rejection needs a reason: the message is empty.'
  if (items.length > mostRejectionItems) return `A rejection has at most ${mostRejectionItems} items.`
  const texts = [message, ...items.flatMap((item) => [item.path, item.message])]
  if (texts.some((text) => text.length > longestRejectionText))
    return `A text of a rejection has at most ${longestRejectionText} characters.`
  return texts.every(isWellFormedText) ? null : 'A text of the rejection has broken characters.'
}
