import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  type ApiVersion,
  apiVersions,
  currentApiVersion,
  overlapHeaders,
  readApiVersion,
} from '../../src/domain/api-version.ts'

const deprecatedAt = Date.UTC(2027, 7, 1)
const sunsetAt = Date.UTC(2028, 7, 1)
const stable: ApiVersion = { name: '2027-08', status: 'stable', deprecatedAt: null, sunsetAt: null }
const deprecated: ApiVersion = { name: '2026-08', status: 'deprecated', deprecatedAt, sunsetAt }
const retired: ApiVersion = { name: '2025-08', status: 'retired', deprecatedAt: 0, sunsetAt: 1 }
const versions = [stable, deprecated, retired]

describe('the version header', () => {
  test('names the one stable version', () => {
    expect(currentApiVersion).toBe('2026-08')
    const served = readApiVersion('2026-08')
    expect(served.kind === 'served' && served.version.name).toBe('2026-08')
    expect(apiVersions.filter(({ status }) => status === 'stable').map(({ name }) => name)).toEqual([currentApiVersion])
  })

  test('may not be missing', () => {
    expect(readApiVersion(null)).toEqual({ kind: 'missing' })
  })

  test('that is unknown, malformed or repeated is answered with the supported versions', () => {
    const wrong = ['', '2026-8', '2026-08 ', 'v2026-08', '2026-08-01', '2026-08, 2026-08', '2027-01', 'latest', '*']
    for (const header of wrong) {
      expect(readApiVersion(header)).toEqual({ kind: 'unsupported', supported: ['2026-08'] })
    }
  })

  test('never falls back to another version', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (header) => expect(readApiVersion(header).kind).toBe('unsupported')),
    )
  })

  test('reaches every version of an overlap', () => {
    expect(readApiVersion('2027-08', versions)).toEqual({ kind: 'served', version: stable })
    expect(readApiVersion('2026-08', versions)).toEqual({ kind: 'served', version: deprecated })
  })

  test('of a retired version is answered with its end', () => {
    expect(readApiVersion('2025-08', versions)).toEqual({ kind: 'retired', sunsetAt: 1 })
  })

  test('that is unsupported is not pointed to a retired version', () => {
    expect(readApiVersion('x', versions)).toEqual({ kind: 'unsupported', supported: ['2027-08', '2026-08'] })
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
