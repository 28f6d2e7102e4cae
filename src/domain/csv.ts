/**
 * One line of CSV with these cells (RFC 4180). Every text is quoted, because spreadsheets of many countries separate cells by
 * semicolons or tabs.
 */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

/** At the beginning of a file, so that Excel reads it as UTF-8. */
export const byteOrderMark = '\ufeff'

/**
 * A cell that begins with one of these is a formula to a spreadsheet, also in their full-width form, and also after a tab or a
 * line end. An apostrophe before it makes it text. So does one behind a separator within the text: a spreadsheet that separates by
 * semicolons takes the quotes of all cells but the first for letters.
 */
const formula = /^(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;,\t\r\n]"*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/gu

const csvCell = (value: string | number | null): string => {
  if (value === null) return ''
  return typeof value === 'string' ? `"${value.replaceAll(formula, "'").replaceAll('"', '""')}"` : String(value)
}
