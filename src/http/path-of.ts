/**
 * The path, undecoded but for dot segments, which Bun resolves before anyone sees them. Taken from the text, since a Host header
 * can be such that no URL comes of it; Bun then gives the two as they came, or only the path.
 */
export const pathOf = (url: string): string => {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  const end = url.indexOf('?', start)
  return start === -1 ? '' : url.slice(start, end === -1 ? url.length : end)
}
