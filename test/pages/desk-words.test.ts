import { expect, test } from 'bun:test'
import { durationInWords, readMoment } from '../../src/pages/words.ts'
import { bytesInWords } from '../../src/domain/text.ts'

test('a duration is shown in its two largest units', () => {
  expect([0, 1, 59, 60, 61, 3_600, 90_061, 86_400, 10 * 86_400 + 59].map(durationInWords)).toEqual([
    '0 seconds',
    '1 second',
    '59 seconds',
    '1 minute',
    '1 minute 1 second',
    '1 hour',
    '1 day 1 hour',
    '1 day',
    '10 days 59 seconds',
  ])
})

test('a size is shown in a fitting unit', () => {
  expect([0, 1_023, 1_024, 1_536, 5 * 1024 ** 2, 3 * 1024 ** 4, 5_000 * 1024 ** 4].map(bytesInWords)).toEqual([
    '0 bytes',
    '1023 bytes',
    '1.0 KiB',
    '1.5 KiB',
    '5.0 MiB',
    '3.0 TiB',
    '5000.0 TiB',
  ])
})

test('a time is read as people and browsers write it, in UTC', () => {
  const noon = Date.UTC(2026, 7, 1, 12)
  for (const text of ['2026-08-01T12:00', '2026-08-01 12:00', '2026-08-01T12:00:00', '2026-08-01T14:00:00+02:00']) {
    expect([text, readMoment(text)]).toEqual([text, noon])
  }
  for (const [text, hour] of [
    ['2026-08-01T12:00Z', 12],
    ['2026-08-01 12:00+02:00', 10],
    ['2026-08-01T12:00-05:30', 17.5],
  ] as const) {
    expect([text, readMoment(text)]).toEqual([text, Date.UTC(2026, 7, 1) + hour * 3_600_000])
  }
  expect(readMoment('2026-08-01')).toBe(Date.UTC(2026, 7, 1))
  for (const text of [
    '',
    'yesterday',
    '2026-02-30',
    '2026-08-01T25:00',
    '1.8.2026',
    '2026-08-01T12:00+',
    '1785585600',
  ]) {
    expect([text, readMoment(text)]).toEqual([text, null])
  }
})
