import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { createSecretScan } from '../../src/cli/developer/package/secret-scan.ts'
import { base62OfNumber } from '../../src/domain/base62.ts'
import { rowKey } from '../../src/domain/identifier.ts'
import { digitsOfTimeKey, timeKeyOfUuid } from '../../src/domain/time-key.ts'
import {
  deriveSecretDigits,
  hashSecret,
  isTimeKeyed,
  mintSecret,
  parseSecret,
  parseToken,
  sameHash,
  secretIn,
  type SecretKind,
  secretKindOf,
  secretKinds,
  secretPrefixes,
} from '../../src/domain/secret.ts'

const digits = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
const kindOf = fc.constantFrom(...secretKinds)
const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 })
const drawn = fc.string({ unit: fc.constantFrom(...digits), minLength: 43, maxLength: 43 })

const id = Uint8Array.from({ length: 16 }, (_, index) => index * 11)
const mintOf = (kind: SecretKind, of: Uint8Array, chance: string) =>
  isTimeKeyed(kind)
    ? mintSecret({ kind, key: timeKeyOfUuid(of), digits: chance })
    : mintSecret({ kind, key: rowKey(of), digits: chance })
const mint = (kind: SecretKind) => mintOf(kind, id, digits.slice(9, 9 + 43).join(''))
const parse = (kind: SecretKind, text: string) => (isTimeKeyed(kind) ? parseToken(kind, text) : parseSecret(kind, text))
const keyDigitsOf = (kind: SecretKind, of: Uint8Array) =>
  isTimeKeyed(kind) ? digitsOfTimeKey(timeKeyOfUuid(of)) : rowKey(of)
const withChecksum = (text: string) => text + base62OfNumber(crc32(text), 6)

describe('a secret', () => {
  test('has a checksum whose check value is that of the catalogue of CRCs (CRC-32/ISO-HDLC)', () => {
    expect(crc32('123456789')).toBe(0xcbf43926)
  })

  test('of every kind is found in a package, and one with a wrong checksum is not', () => {
    for (const kind of secretKinds) {
      const secret = mint(kind)
      for (const [text, found] of [
        [secret, true],
        [`${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`, false],
      ] as const) {
        const scan = createSecretScan()
        scan.see(new TextEncoder().encode(`key: "${text}"`))
        expect([kind, scan.found()]).toEqual([kind, found])
      }
    }
  })

  test('has the prefix of its kind, a key of 22, 43 random and 6 check digits', () => {
    fc.assert(
      fc.property(kindOf, uuid, drawn, (kind, of, chance) => {
        const text = mintOf(kind, of, chance)
        expect(text).toStartWith(secretPrefixes[kind] + keyDigitsOf(kind, of))
        expect(text.slice(secretPrefixes[kind].length)).toMatch(/^[0-9A-Za-z]{71}$/)
        expect(text).toBe(withChecksum(text.slice(0, -6)))
        expect(text.length).toBeLessThanOrEqual(255)
      }),
    )
  })

  test('gives back its key and the SHA-256 of its whole text', () => {
    fc.assert(
      fc.property(kindOf, uuid, drawn, (kind, of, chance) => {
        const text = mintOf(kind, of, chance)
        const parsed = parse(kind, text)
        expect(parsed?.key).toBe(isTimeKeyed(kind) ? timeKeyOfUuid(of) : rowKey(of))
        expect(Buffer.from(parsed?.hash ?? []).toString('hex')).toBe(createHash('sha256').update(text).digest('hex'))
      }),
    )
  })

  test('keeps every digit of its key and its random part', () => {
    fc.assert(
      fc.property(kindOf, uuid, drawn, (kind, of, chance) => {
        const text = mintOf(kind, of, chance)
        expect(text.slice(secretPrefixes[kind].length, -6)).toBe(keyDigitsOf(kind, of) + chance)
      }),
    )
  })

  test('is never made from fewer than 43 random digits', () => {
    for (const length of [0, 22, 42, 44]) {
      expect(() => mintOf('appToken', id, '0'.repeat(length))).toThrow(RangeError)
    }
  })

  test('with any one character changed is refused', () => {
    for (const kind of secretKinds) {
      const text = mint(kind)
      for (let position = 0; position < text.length; position += 1) {
        for (const digit of [...digits, '_', '-', '\0', '\u00e9', '\ud800']) {
          if (digit === text[position]) continue
          expect(parse(kind, text.slice(0, position) + digit + text.slice(position + 1))).toBeNull()
        }
      }
    }
  })

  test('with two neighbours swapped is refused', () => {
    const text = mint('refreshToken')
    for (let position = 0; position + 1 < text.length; position += 1) {
      const [one = '', two = ''] = text.slice(position, position + 2)
      if (one === two) continue
      expect(parse('refreshToken', text.slice(0, position) + two + one + text.slice(position + 2))).toBeNull()
    }
  })

  test('with anything added or cut off is refused', () => {
    const text = mint('session')
    const added = [` ${text}`, `${text} `, `${text}\n`, `${text}0`, `${text}${text}`]
    const cut = [text.slice(1), text.slice(0, -1), '', 'apus_']
    for (const wrong of [...added, ...cut]) expect(parse('session', wrong)).toBeNull()
  })

  test('of one kind is not accepted as another', () => {
    for (const minted of secretKinds) {
      for (const asked of secretKinds) expect(parse(asked, mint(minted)) !== null).toBe(minted === asked)
    }
  })

  test('whose key is more than 128 bits is refused although its checksum is right', () => {
    const body = '0'.repeat(43)
    expect(parse('session', withChecksum(`apus_7n42DGM5Tflk9n8mt7Fhc7${body}`))).not.toBeNull()
    expect(parse('session', withChecksum(`apus_7n42DGM5Tflk9n8mt7Fhc8${body}`))).toBeNull()
    expect(parse('session', withChecksum(`apus_${'z'.repeat(22)}${body}`))).toBeNull()
    expect(parse('appToken', withChecksum(`apat_7n42DGM5Tflk9n8mt7Fhc7${body}`))).toBeNull()
  })

  test('of another length is refused although its checksum is right', () => {
    for (const length of [0, 22, 64, 66, 65 + 43]) {
      expect(parse('appToken', withChecksum(`apat_${'0'.repeat(length)}`))).toBeNull()
    }
    expect(parse('appToken', withChecksum(`apat_${'0'.repeat(65)}`))).not.toBeNull()
  })

  test('must be base62 even if its checksum is right', () => {
    expect(parse('appToken', withChecksum(`apat_${'0'.repeat(64)}-`))).toBeNull()
    expect(parse('appToken', withChecksum(`apat_${'0'.repeat(64)}\u0100`))).toBeNull()
  })

  test('is parsed without an error, whatever the text is', () => {
    const wild = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: 'binary', minLength: 71, maxLength: 71 }).map((text) => `apat_${text}`),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 90 }).map((units) => String.fromCharCode(...units)),
    )
    fc.assert(
      fc.property(kindOf, wild, (kind, text) => {
        expect(parse(kind, text)).toBeNull()
        secretKindOf(text)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the kind of a secret', () => {
  test('has the prefix that the contract gives it', () => {
    expect(secretPrefixes).toEqual({
      clientSecretDevelopment: 'aps_dev_',
      clientSecretProduction: 'aps_live_',
      appToken: 'apat_',
      userAccessToken: 'apua_',
      refreshToken: 'apur_',
      authorizationCode: 'apco_',
      session: 'apus_',
      embeddedSession: 'apes_',
      installSessionCode: 'apic_',
      serviceKey: 'apok_',
      signInRequest: 'apsr_',
      passwordLink: 'appl_',
      appInvitation: 'apmi_',
    })
  })

  test('is known by its prefix', () => {
    for (const kind of secretKinds) expect(secretKindOf(mint(kind))).toBe(kind)
  })

  test('is not known by anything else', () => {
    for (const text of ['', 'apat', 'APAT_x', ' apat_x', 'apx_', 'Bearer apat_', 'aps_test_0']) {
      expect(secretKindOf(text)).toBeNull()
    }
  })

  test('has a prefix that no other prefix begins with', () => {
    const prefixes = Object.values(secretPrefixes)
    for (const one of prefixes) expect(prefixes.filter((other) => other.startsWith(one))).toEqual([one])
  })
})

describe('two hashes', () => {
  test('are the same only if every bit is', () => {
    const hash = hashSecret(mint('appToken'))
    expect(sameHash(hash, Buffer.from(hash))).toBeTrue()
    for (let bit = 0; bit < 256; bit += 1) {
      const other = Buffer.from(hash)
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(sameHash(hash, other)).toBeFalse()
    }
  })

  test('of different length are not the same, and do not throw', () => {
    const hash = hashSecret('x')
    expect(sameHash(hash, hash.slice(0, 31))).toBeFalse()
    expect(sameHash(new Uint8Array(0), hash)).toBeFalse()
  })
})

const inDigits = (hmac: ReturnType<typeof createHmac>) =>
  hmac.digest('base64url').replace(/[-_]/g, (character) => (character === '-' ? 'A' : 'B'))

describe('derived digits', () => {
  const salt = new Uint8Array(16).fill(5)
  const digits = ['x', 'y'].map((digit) => digit.repeat(43))
  const [presented = '', other = ''] = digits.map((each) => mintOf('refreshToken', id, each))

  test('are the HMAC-SHA-256 of salt and label under the random digits of the presented secret', () => {
    const hmac = createHmac('sha256', digits[0] ?? '').update(Buffer.concat([salt, Buffer.from('access')]))
    expect(deriveSecretDigits(presented, salt, 'access')).toBe(inDigits(hmac))
  })

  test('cannot be derived from the hash of the secret, which is stored beside the salt', () => {
    for (const kind of ['refreshToken', 'authorizationCode'] as const) {
      const secret = mintOf(kind, id, digits[0] ?? '')
      const hmac = createHmac('sha256', hashSecret(secret)).update(salt).update('access')
      expect(deriveSecretDigits(secret, salt, 'access')).not.toBe(inDigits(hmac))
    }
  })

  test('are always the same, and differ for another secret, salt or label', () => {
    const of = deriveSecretDigits(presented, salt, 'access')
    expect(deriveSecretDigits(presented, Uint8Array.from(salt), 'access')).toBe(of)
    expect(deriveSecretDigits(other, salt, 'access')).not.toBe(of)
    expect(deriveSecretDigits(presented, new Uint8Array(16).fill(6), 'access')).not.toBe(of)
    expect(deriveSecretDigits(presented, salt, 'refresh')).not.toBe(of)
  })

  test('make a well-formed secret, whatever the salt', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      const derived = deriveSecretDigits(presented, new Uint8Array(16).fill(byte), 'refresh')
      expect(parse('refreshToken', mintOf('refreshToken', id, derived))?.key).toBe(timeKeyOfUuid(id))
    }
  })
})

test('a link that was copied from a mail is read without what mail programs put around and into it', () => {
  const link = mint('passwordLink')
  const middle = `${link.slice(0, 30)}\r\n${link.slice(30)}`
  const quoted = `3D${link.slice(0, 30)}=\r\n${link.slice(30)}`
  for (const text of [
    link,
    ` ${link}`,
    `${link}.`,
    `${link})`,
    `${link}\n`,
    `${link}">`,
    `<${link}>`,
    middle,
    quoted,
  ]) {
    expect([text, secretIn('passwordLink', text)]).toEqual([text, link])
  }
  for (const text of ['', 'x', link.slice(0, -1), link.replace('appl_', 'apmi_')]) {
    expect(secretIn('passwordLink', text)).toBe(text)
  }
})
