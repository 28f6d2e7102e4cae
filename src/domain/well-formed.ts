/** No lone surrogates and no NUL: text that every layer below reads as the same text. */
export const isWellFormedText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
