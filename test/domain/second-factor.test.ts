import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { readCode, recoveryCode, stepOfTotpCode, totpAddress, totpStepAt } from '../../src/domain/second-factor.ts'
import { totpCode } from '../support/factors.ts'

const spellings = [
  '123456',
  '123 456',
  '123\u00a0456',
  ' 123-456 ',
  '１２３４５６',
  '١٢٣٤٥٦',
  '۱۲۳۴۵۶',
  '१२३४५६',
  '๑๒๓๔๕๖',
  '𝟏𝟐𝟑𝟒𝟓𝟔',
  '12\u200b34\u200d56',
  '\u200e123\u2013456',
  '123\u3000456\n',
]

test.each(spellings)('a code of an authenticator app is the same, however its digits are typed: %p', (typed) =>
  expect(readCode(typed)).toEqual({ kind: 'totp', code: '123456' }),
)

test('a recovery code may have other dashes, spaces and capital letters', () => {
  const code = recoveryCode(new Uint8Array(16).map((_, index) => index * 2))
  const plain = { kind: 'recovery', code: code.replaceAll('-', '') } as const
  for (const typed of [
    code,
    code.toUpperCase(),
    code.replaceAll('-', ' '),
    code.replaceAll('-', '\u2011'),
    ` ${plain.code}\u00a0`,
  ]) {
    expect(readCode(typed)).toEqual(plain)
  }
})

test.each([
  '',
  '12345',
  '1234567',
  '12345a',
  '0'.repeat(16),
  '1'.repeat(16),
  'é'.repeat(16),
  'a'.repeat(15),
  'a'.repeat(17),
  'x'.repeat(5000),
])('any other text is neither: %p', (typed) => expect(readCode(typed)).toEqual({ kind: 'neither' }))

test('whatever is accepted as a code of an authenticator app is read as one, so the limit counts it', () => {
  const key = new Uint8Array(20).fill(7)
  const now = 1_790_000_000_000
  const right = totpCode(key, now)
  expect(stepOfTotpCode(key, readCode(right), now)).toBe(totpStepAt(now))
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(' ', '-', '\u00a0', '\u200b', '\t', ''), { minLength: 6, maxLength: 6 }),
      (between) => {
        const typed = Array.from(right, (digit, index) => digit + between[index]).join('')
        expect(readCode(typed)).toEqual({ kind: 'totp', code: right })
      },
    ),
  )
})

test('the address for an authenticator app has one colon, between the issuer and the account', () => {
  const address = totpAddress(new Uint8Array(20), 'Acme: apps : for you', 'ada@example.com')
  const { pathname, searchParams } = new URL(address)
  expect(decodeURIComponent(pathname.slice(1)).split(':')).toEqual(['Acme apps for you', 'ada@example.com'])
  expect(searchParams.get('issuer')).toBe('Acme apps for you')
})
