/** One line of CSV with these cells (RFC 4180). */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

/** At the beginning of a file, so that Excel reads it as UTF-8. */
export const byteOrderMark = '\ufeff'

/**
 * A cell that begins with one of these is a formula to a spreadsheet, also in their full-width form, and also after a tab or a
 * line end. An apostrophe before it makes it text.
 */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

const csvCell = (value: string | number | null): string => {
  if (value === null) return ''
  const text = typeof value === 'string' && formula.test(value) ? `'${value}` : String(value)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
