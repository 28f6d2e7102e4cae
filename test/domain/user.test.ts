import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { emailFault, normalizeEmail } from '../../src/domain/user.ts'

test('an address is kept in lower case', () => {
  expect(normalizeEmail('Ada.Lovelace+Apps@Example.COM')).toBe('ada.lovelace+apps@example.com')
  expect(normalizeEmail('root@localhost')).toBe('root@localhost')
  expect(normalizeEmail("o'brien@mail-1.example")).toBe("o'brien@mail-1.example")
})

test('a kept address stays as it is', () => {
  fc.assert(
    fc.property(fc.emailAddress(), (address) => {
      const kept = normalizeEmail(address)
      if (kept !== null) expect(normalizeEmail(kept)).toBe(kept)
      expect(kept).toBe(address.length <= 254 ? address.toLowerCase() : null)
    }),
  )
})

test('any text that is not one plain address is refused', () => {
  for (const text of [
    '',
    '@',
    'ada',
    'ada@',
    '@example.com',
    'ada@b@example.com',
    ' ada@example.com',
    'ada@example.com ',
    'ada@example.com\n',
    'ada@exam ple.com',
    'ada@example..com',
    'ada@.example.com',
    'ada@example.com.',
    'ada@-example.com',
    'ada@example-.com',
    'ada@exa_mple.com',
    '.ada@example.com',
    'ada.@example.com',
    'a..da@example.com',
    '"ada"@example.com',
    'Ada <ada@example.com>',
    'ada@example.com,eve@example.com',
    'ada@[127.0.0.1]',
    'ad\u00e4@example.com',
    'ada\0@example.com',
  ]) {
    expect([text, normalizeEmail(text)]).toEqual([text, null])
  }
})

test('a host with other letters is converted as browsers do, however it is typed', () => {
  for (const [host, kept] of [
    ['b\u00fccher.example', 'xn--bcher-kva.example'],
    ['B\u00dcCHER.Example', 'xn--bcher-kva.example'],
    ['bu\u0308cher.example', 'xn--bcher-kva.example'],
    ['b\u00fc\u00adcher\u3002example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['stra\u00dfe.example', 'xn--strae-oqa.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['почта.рф', 'xn--80a1acny.xn--p1ai'],
    ['क्\u200dष.example', 'xn--11b2ezcw70k.example'],
    ['\uff45xample.com', 'example.com'],
    ['１２.3', '12.3'],
  ] as const) {
    expect([host, normalizeEmail(`Joe@${host}`)]).toEqual([host, `joe@${kept}`])
  }
})

test('a host that no name can have is refused', () => {
  for (const host of [
    'b\u00fc cher.example',
    'b\u00fc/x',
    'b\u00fc:80',
    'b\u00fc?x',
    'b\u00fc#x',
    'b\u00fc%41',
    'b\u00fc\\x',
    'b\u00fc\n.de',
    'b\u00fc\0.de',
    'ex\uff0fb.com',
    'b\u00fc_.de',
    'b\u00fc..de',
    '.b\u00fc',
    'b\u00fc.',
    'a\u200db.com',
    'b\u00fc\ud800.de',
    '\u00ad',
  ]) {
    expect([host, normalizeEmail(`joe@${host}`)]).toEqual([host, null])
  }
})

test('the fault of an address says where other letters are allowed', () => {
  expect(emailFault('jo\u00e9@b\u00fccher.example')).toContain('only behind the @')
  for (const text of ['joe', 'jo\u00e9', 'joe@', 'jo\u00e9@', '@b\u00fccher.example'])
    expect(emailFault(text)).toContain('malformed')
})

test('the fault of an address names a space and what cannot be seen, which copying adds', () => {
  for (const text of [
    'ada@example.com ',
    '\u00a0ada@example.com',
    '\u202aada@example.com\u202c',
    'ada\u200b@example.com',
    'ada\u00ad@example.com',
    '\ufeffada@example.com',
    'a\u3164da@example.com',
    'ada@example.com\n',
    'ada @example.com',
  ]) {
    expect(normalizeEmail(text)).toBeNull()
    expect(emailFault(text), text).toContain('a space or a character that cannot be seen')
  }
  expect(emailFault('<ada@example.com>')).toBe('The email address is malformed.')
})

test('letters outside ASCII are refused, even if their lower case is in ASCII', () => {
  expect(normalizeEmail('\u212aate@example.com')).toBeNull()
})

test('an address has at most 254 characters, 64 of them before the @ and 63 in a label', () => {
  const label = 'a'.repeat(60)
  const domain = `${label}.${label}.${label}`
  expect(normalizeEmail(`${'a'.repeat(64)}@${domain}`)).not.toBeNull()
  expect(normalizeEmail(`${'a'.repeat(65)}@${domain}`)).toBeNull()
  expect(normalizeEmail(`${'a'.repeat(64)}@${domain}.${'a'.repeat(5)}`)).not.toBeNull()
  expect(normalizeEmail(`${'a'.repeat(64)}@${domain}.${'a'.repeat(6)}`)).toHaveLength(254)
  expect(normalizeEmail(`${'a'.repeat(64)}@${domain}.${'a'.repeat(7)}`)).toBeNull()
  expect(normalizeEmail(`a@${'a'.repeat(64)}`)).toBeNull()
})

test('any text is read without an error, in linear time', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void normalizeEmail(text)))
  const start = performance.now()
  for (const unit of ['a', 'a.', 'a-', '-', '.']) {
    normalizeEmail(`a@${unit.repeat(250)}`.slice(0, 253).concat('!'))
    normalizeEmail(`a@${unit.repeat(1_000_000)}`)
  }
  expect(performance.now() - start).toBeLessThan(1000)
})
