import { isWellFormedText } from './well-formed.ts'

/** Why a version was rejected: what its owner reads, and what there is to mend. */
type RejectionText = {
  readonly message: string
  readonly items: readonly { readonly path: string; readonly message: string }[]
}

const longest = 2_000
const mostItems = 100

/** What is wrong with it, as a sentence; null when nothing is. */
export const rejectionFault = ({ message, items }: RejectionText): string | null => {
  if (message.trim() === '') return 'A rejection says why: the message is empty.'
  if (items.length > mostItems) return `A rejection has at most ${mostItems} items.`
  const texts = [message, ...items.flatMap((item) => [item.path, item.message])]
  if (texts.some((text) => text.length > longest)) return `A text of a rejection has at most ${longest} characters.`
  return texts.every(isWellFormedText) ? null : 'A text of the rejection has broken characters.'
}
