import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  type ApiVersion,
  apiVersionRefusal,
  apiVersions,
  currentApiVersion,
  overlapHeaders,
} from '../../src/domain/api-version.ts'

const deprecatedAt = Date.UTC(2027, 7, 1)
const sunsetAt = Date.UTC(2028, 7, 1)
const stable: ApiVersion = { name: '2027-08', status: 'stable', deprecatedAt: null, sunsetAt: null }
const deprecated: ApiVersion = { name: '2026-08', status: 'deprecated', deprecatedAt, sunsetAt }
const retired: ApiVersion = { name: '2025-08', status: 'retired', deprecatedAt: 0, sunsetAt: 1 }
const versions = [stable, deprecated, retired]

const refusalOf = (header: string | null, known = apiVersions) => {
  const refusal = apiVersionRefusal(header, known)
  return refusal === null ? null : [refusal.code, refusal.facts.details]
}

describe('the version header', () => {
  test('names the one stable version', () => {
    expect(currentApiVersion).toBe('2026-08')
    expect(refusalOf('2026-08')).toBeNull()
    expect(apiVersions.filter(({ status }) => status === 'stable').map(({ name }) => name)).toEqual([currentApiVersion])
  })

  test('may not be missing', () => {
    expect(refusalOf(null)).toEqual(['api_version_missing', undefined])
  })

  test('is refused with the supported versions when it is unknown, malformed or repeated', () => {
    const wrong = ['', '2026-8', '2026-08 ', 'v2026-08', '2026-08-01', '2026-08, 2026-08', '2027-01', 'latest', '*']
    for (const header of wrong) {
      expect(refusalOf(header)).toEqual(['api_version_unsupported', { supported: ['2026-08'] }])
    }
  })

  test('never falls back to another version', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (header) =>
        expect(apiVersionRefusal(header)?.code).toBe('api_version_unsupported'),
      ),
    )
  })

  test('may name every version of an overlap', () => {
    expect(refusalOf('2027-08', versions)).toBeNull()
    expect(refusalOf('2026-08', versions)).toBeNull()
  })

  test('is refused for a retired version, with the day on which it ended, if that is known', () => {
    expect(refusalOf('2025-08', versions)).toEqual(['api_version_retired', { sunsetAt: '1970-01-01T00:00:00.001Z' }])
    expect(refusalOf('2025-08', [{ ...retired, sunsetAt: null }])).toEqual(['api_version_retired', { sunsetAt: null }])
  })

  test('is never answered with a retired version as a supported one', () => {
    expect(refusalOf('x', versions)).toEqual(['api_version_unsupported', { supported: ['2027-08', '2026-08'] }])
  })
})

describe('the headers of an overlap', () => {
  test('are none for the stable version', () => {
    expect(overlapHeaders(stable, '/docs')).toEqual({})
  })

  test('are none while the beginning or the end of the overlap is not known', () => {
    expect(overlapHeaders({ ...deprecated, deprecatedAt: null }, '/docs')).toEqual({})
    expect(overlapHeaders({ ...deprecated, sunsetAt: null }, '/docs')).toEqual({})
  })

  test('say when it was deprecated, when it ends, and where the documentation is', () => {
    expect(overlapHeaders(deprecated, '/docs#versions')).toEqual({
      Deprecation: '@1817078400', // RFC 9745 section 2.1: a date of structured fields
      Sunset: 'Tue, 01 Aug 2028 00:00:00 GMT', // RFC 8594 section 3: an HTTP-date
      Link: '</docs#versions>; rel="deprecation"; type="text/html"',
    })
  })
})
