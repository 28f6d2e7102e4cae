// RFC 3339 section 5.6; the offset must be there, a leap second is not taken.
const form =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** The first and the last moment that RFC 3339 has a UTC text for, which is how each is told again. */
const earliest = Date.parse('0000-01-01T00:00:00.000Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/** The moment in epoch milliseconds that an RFC 3339 text names; null for any other text and for days that do not exist. */
export const parseTimestamp = (text: string): number | null => {
  const [, year = '', month = '', day = ''] = form.exec(text) ?? []
  if (!isDay(Number(year), Number(month), Number(day))) return null
  const epochMs = Date.parse(text.toUpperCase().replace(' ', 'T'))
  return epochMs >= earliest && epochMs <= latest ? Math.trunc(epochMs) : null
}

const isDay = (year: number, month: number, day: number): boolean => {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 // a day that does not exist is counted on into another month
}
