import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { challengeOf, isCodeChallenge, isCodeVerifier, verifierMatches } from '../../src/domain/pkce.ts'

// RFC 7636 appendix B
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const unreserved = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~']
const verifiers = fc.string({ unit: fc.constantFrom(...unreserved), minLength: 43, maxLength: 128 })

describe('PKCE', () => {
  test('the example of RFC 7636 appendix B holds', () => {
    expect(challengeOf(verifier)).toBe(challenge)
    expect(isCodeVerifier(verifier)).toBeTrue()
    expect(isCodeChallenge(challenge)).toBeTrue()
    expect(verifierMatches(verifier, challenge)).toBeTrue()
  })

  test('every verifier matches its own challenge and no other', () => {
    fc.assert(
      fc.property(verifiers, verifiers, (one, other) => {
        expect(isCodeChallenge(challengeOf(one))).toBeTrue()
        expect(verifierMatches(one, challengeOf(one))).toBeTrue()
        expect(verifierMatches(one, challengeOf(other))).toBe(one === other)
      }),
    )
  })

  test('a verifier with one character changed does not match', () => {
    for (let position = 0; position < verifier.length; position += 1) {
      const other = verifier[position] === 'A' ? 'B' : 'A'
      const changed = verifier.slice(0, position) + other + verifier.slice(position + 1)
      expect(verifierMatches(changed, challenge)).toBeFalse()
    }
  })

  test('a verifier has 43 to 128 unreserved characters', () => {
    expect(isCodeVerifier('a'.repeat(42))).toBeFalse()
    expect(isCodeVerifier('a'.repeat(43))).toBeTrue()
    expect(isCodeVerifier('a'.repeat(128))).toBeTrue()
    expect(isCodeVerifier('a'.repeat(129))).toBeFalse()
    for (const stranger of ['+', '/', '=', ' ', '\n', '%', '\u00e9']) {
      expect(isCodeVerifier('a'.repeat(43) + stranger)).toBeFalse()
    }
  })

  test('a verifier that is too short does not match even its own challenge', () => {
    expect(verifierMatches('short', challengeOf('short'))).toBeFalse()
  })

  test('the challenge is not accepted as a verifier: the plain method is not supported', () => {
    expect(verifierMatches(challenge, challenge)).toBeFalse()
  })

  test('a challenge has exactly 43 base64url characters that stand for 32 bytes', () => {
    const wrong = ['', challenge.slice(1), `${challenge}M`, `${challenge}=`, `${challenge}\n`, `+${challenge.slice(1)}`]
    for (const text of wrong) expect(isCodeChallenge(text)).toBeFalse()
    fc.assert(
      fc.property(fc.constantFrom(...unreserved.filter((c) => /[\w-]/.test(c))), (last) => {
        const text = challenge.slice(0, 42) + last
        expect(isCodeChallenge(text)).toBe(Buffer.from(text, 'base64url').toString('base64url') === text)
      }),
      { numRuns: 400 },
    )
  })

  test('no text makes the comparison fail with an error', () => {
    const wild = fc.string({ unit: 'binary', maxLength: 150 })
    fc.assert(fc.property(wild, wild, (one, other) => expect(verifierMatches(one, other)).toBeFalse()))
    fc.assert(fc.property(wild, (text) => expect(verifierMatches(verifier, text)).toBeFalse()))
  })
})
