import { isWellFormedText } from './well-formed.ts'

/** Longest name of a person, app or resource, in UTF-16 code units. */
const maximumLength = 200

/** What can be seen of a text: no space or control of any kind, nor what fonts draw as nothing. */
const visible = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

/** More marks on one letter than any script has. They would be drawn over what stands above and below the name. */
const towerOfMarks = /\p{M}{9}/u

/** What is wrong with a name that people will read, as a sentence; null when nothing is. */
export const nameFault = (name: string): string | null => {
  if (!isWellFormedText(name)) return 'The name has broken characters.'
  if (!visible.test(name)) return 'The name is empty.'
  if (name.length > maximumLength) return 'The name is longer than 200 characters.'
  // Control characters, line ends and marks that reverse the reading direction would let a name pose as another text.
  if (/[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(name)) {
    return 'The name has control characters.'
  }
  if (towerOfMarks.test(name)) return 'The name has too many marks on one letter.'
  return null
}
