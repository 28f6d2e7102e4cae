import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  artifactName,
  isProductionRollbackTarget,
  isSemanticVersion,
  liveStack,
  rejectionFault,
  versionStatuses,
  versionSteps,
} from '../../src/domain/version.ts'

test('a version can have each status that a step starts from or leads to, and superseded, in the order of its life', () => {
  expect<readonly string[]>(versionStatuses).toEqual([
    'draft',
    'submitted',
    'approved',
    'active',
    'superseded',
    'rejected',
  ])
  const named = Object.values(versionSteps).flatMap(({ from, to }) => [from, to])
  expect(new Set<string>([...named, 'superseded'])).toEqual(new Set(versionStatuses))
})

test('a rollback leads only to a version that was live before', () => {
  expect(versionStatuses.filter(isProductionRollbackTarget)).toEqual(['superseded'])
})

test('going back ends at the version below, and never leads to one that was withdrawn', () => {
  for (const [changes, stack] of [
    ['', ''],
    ['1', '1'],
    ['12', '12'],
    ['121', '1'],
    ['1213', '13'],
    ['1231', '1'],
    ['12312', '12'],
    ['12321', '1'],
    ['123131', '1'],
    ['123132', '132'],
    ['12131415', '15'],
  ] as const)
    expect(liveStack([...changes]).join('')).toBe(stack)
})

test('the stack of live versions is that of a model, for every history', () => {
  const versions = fc.array(fc.nat(6).map(String), { maxLength: 60 })
  const property = fc.property(versions, (changes) => {
    let model: string[] = []
    for (const id of changes) model = model.includes(id) ? model.slice(0, model.indexOf(id) + 1) : [...model, id]
    expect(liveStack(changes)).toEqual(model)
    expect(new Set(model).size).toBe(model.length)
    expect(model.slice(-1)).toEqual(changes.slice(-1))
  })
  fc.assert(property, { numRuns: 1_000 })
})

test('every version of SemVer 2.0 is accepted', () => {
  for (const text of [
    '0.0.0',
    '1.4.0',
    '10.20.30',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-0.3.7',
    '1.0.0-x.7.z.92',
    '1.0.0-x-y-z.--',
    '1.0.0--',
    '1.0.0-0a.01a',
    '1.0.0+20130313144700',
    '1.0.0-beta+exp.sha.5114f85',
    '1.0.0+21AF26D3----117B344092BD',
    '1.0.0+001',
    '99999999999999999999.99999999999999999999.99999999999999999999',
  ]) {
    expect([text, isSemanticVersion(text)]).toEqual([text, true])
  }
})

test('any other text is refused as a version', () => {
  for (const text of [
    '',
    '1',
    '1.2',
    '1.2.3.4',
    'v1.2.3',
    '01.2.3',
    '1.02.3',
    '1.2.03',
    '1.2.3-',
    '1.2.3+',
    '1.2.3-+b',
    '1.2.3-01',
    '1.2.3-a..b',
    '1.2.3-a.01',
    '1.2.3+a+b',
    '1.2.3+a..b',
    '1.2.3-a_b',
    '1.2.3 ',
    ' 1.2.3',
    '1.2.3\n',
    '-1.2.3',
    '1.2.x',
    '\u0661.2.3',
  ]) {
    expect([text, isSemanticVersion(text)]).toEqual([text, false])
  }
})

test('a version has at most 64 characters', () => {
  expect(isSemanticVersion(`1.0.0-${'a'.repeat(58)}`)).toBeTrue()
  expect(isSemanticVersion(`1.0.0-${'a'.repeat(59)}`)).toBeFalse()
})

test('a version is accepted if and only if the pattern of semver.org matches, and as fast', () => {
  const official = new RegExp(
    [
      /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)/,
      /(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?/,
      /(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/,
    ]
      .map((part) => part.source)
      .join(''),
  )
  const near = fc.string({ unit: fc.constantFrom('0', '1', '12', '.', '.', '-', '+', 'a', '0.1.2'), maxLength: 14 })
  fc.assert(
    fc.property(near, (text) => expect(isSemanticVersion(text)).toBe(official.test(text))),
    { numRuns: 5000 },
  )
  const start = performance.now()
  for (const unit of ['0', '1', '1.', '0a', '-', '0-']) {
    isSemanticVersion(`${`1.0.0-${unit.repeat(60)}`.slice(0, 63)}!`)
  }
  expect(performance.now() - start).toBeLessThan(500)
})

const item = { path: 'manifest.name', message: 'Missing.' }

test('a rejection has a message and may have items', () => {
  expect(rejectionFault({ message: 'Not yet.', items: [] })).toBeNull()
  expect(rejectionFault({ message: 'x'.repeat(2_000), items: [] })).toBeNull()
  expect(rejectionFault({ message: 'Not yet.', items: Array.from({ length: 100 }, () => item) })).toBeNull()
})

test('an empty, too long or broken text and too many items are refused', () => {
  expect(rejectionFault({ message: ' \n', items: [] })).toContain('empty')
  expect(rejectionFault({ message: 'x'.repeat(2_001), items: [] })).toContain('2000')
  expect(rejectionFault({ message: 'No.', items: [{ path: 'p', message: 'x'.repeat(2_001) }] })).toContain('2000')
  expect(rejectionFault({ message: 'No.', items: [{ path: '\ud800', message: 'm' }] })).toContain('broken')
  expect(rejectionFault({ message: 'No.', items: Array.from({ length: 101 }, () => item) })).toContain('100')
})

test('the name of an artifact is what it seems to be, and has one spelling', () => {
  for (const [text, name] of [
    ['app v1 (\u00fc).tar.gz', 'app v1 (\u00fc).tar.gz'],
    ['u\u0308ber.zip', '\u00fcber.zip'],
    ['www.example.com.zip', 'www.example.com.zip'],
    ['\u05d0\u05e4\u05dc.zip', '\u05d0\u05e4\u05dc.zip'],
    [` ${'n'.repeat(250)}`, 'n'.repeat(250)],
  ] as const) {
    expect(artifactName(text)).toEqual({ name, fault: null })
  }
  for (const text of [
    'report\u202egpj.exe', // drawn as reportexe.jpg
    'a\u2067b.zip',
    'a\u200bb.zip',
    'a\u2028b.zip',
    'a\u0085b.zip',
    `a${'\u0300'.repeat(9)}.zip`,
    '\u00a0',
    '  ',
    '\u200b',
    '\u2800',
    'a/b',
    'a\\b',
    'a\nb',
    'n'.repeat(256),
    '',
  ]) {
    expect([text, artifactName(text).fault]).toEqual([text, expect.stringMatching(/^The file .*\.$/)])
  }
})
