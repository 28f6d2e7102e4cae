// RFC 3339 section 5.6. The offset is required, and a leap second is refused.
const form =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** The first and the last moment with a UTC text in RFC 3339, which is how answers write them. */
const earliest = Date.parse('0000-01-01T00:00:00.000Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/** The moment of an RFC 3339 text in epoch milliseconds; null for other texts and for days that do not exist. */
export const parseTimestamp = (text: string): number | null => {
  const [, year = '', month = '', day = ''] = form.exec(text) ?? []
  if (!isDay(Number(year), Number(month), Number(day))) return null
  const epochMs = Date.parse(text.toUpperCase().replace(' ', 'T'))
  return epochMs >= earliest && epochMs <= latest ? Math.trunc(epochMs) : null
}

const isDay = (year: number, month: number, day: number): boolean => {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 // JavaScript moves a day that does not exist into the next month
}

/** The same record with its times as texts. */
type WithTexts<T> = {
  readonly [Name in keyof T]: Name extends 'at' | `${string}At` ? TimeText<T[Name]> : T[Name]
}
type TimeText<T> = Exclude<T, number> | (number extends T ? string : never)

/** A record in its wire form: `at` and names that end in `At` are RFC 3339 times with milliseconds. */
export const wireRecord = <T extends object>(record: T): WithTexts<T> =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      typeof value === 'number' && isTime(name) ? new Date(value).toISOString() : value,
    ]),
  ) as WithTexts<T>

const isTime = (name: string): boolean => name === 'at' || name.endsWith('At')
