import { parseTimestamp } from '../domain/timestamp.ts'

/** A moment as people and their browsers write it, in UTC: a day, a day and a time, or a whole RFC 3339 timestamp. */
export const readMoment = (text: string): number | null => {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return parseTimestamp(`${text}T00:00:00Z`)
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d$/.test(text)) return parseTimestamp(`${text}:00Z`)
  return parseTimestamp(text) ?? parseTimestamp(`${text}Z`)
}
