import type { PlatformError } from '../../../domain/errors.ts'
import { badInput } from '../../../operations/decision.ts'
import type { RejectionItem } from '../../../operations/versions/version-record.ts'

/** A rejection as it is being written: rows may be empty. */
export type RejectionDraft = { readonly message: string; readonly rows: readonly RejectionItem[] }

const emptyRow: RejectionItem = { path: '', message: '' }
const rowsAtOnce = 3
const mostRows = 100

export const emptyDraft: RejectionDraft = { message: '', rows: Array.from({ length: rowsAtOnce }, () => emptyRow) }

/** What was typed, row by row; the lists come from one form and so are equally long. */
export const draftFrom = (message: string, paths: readonly string[], reasons: readonly string[]): RejectionDraft => ({
  message,
  rows: paths.slice(0, mostRows).map((path, index) => ({ path, message: reasons[index] ?? '' })),
})

/** The same with room for more. */
export const withMoreRows = ({ message, rows }: RejectionDraft): RejectionDraft => ({
  message,
  rows: [...rows, ...Array.from({ length: Math.min(rowsAtOnce, mostRows - rows.length) }, () => emptyRow)],
})

/** The rows that say something. */
export const itemsOf = ({ rows }: RejectionDraft): readonly RejectionItem[] =>
  rows.map(({ path, message }) => ({ path: path.trim(), message: message.trim() })).filter(isFilled)

const isFilled = ({ path, message }: RejectionItem): boolean => path !== '' || message !== ''

/** A row that is only half filled in; null when there is none. */
export const draftFault = (draft: RejectionDraft): PlatformError | null =>
  itemsOf(draft).some(({ path, message }) => path === '' || message === '')
    ? badInput('items', 'Every item names a place and says what is wrong there.')
    : null
