/** Line and column of a character, both counted from 1, as editors do. */
export const placeOf = (text: string, offset: number): string => {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return `${before.split('\n').length}:${offset - lineStart + 1}`
}
