import { expect, test } from 'bun:test'
import { openBytes, sealBytes, sealNonceBytes } from '../../src/domain/sealed-text.ts'

const purpose = { server: new Uint8Array(32).fill(7), browser: 'session', place: '/page' }
const sealed = sealBytes(purpose, Buffer.from('the secret ☂'), new Uint8Array(sealNonceBytes).fill(1))

test('a sealed text is opened for its own purpose only, and does not show its content', () => {
  expect(openBytes(purpose, sealed)?.toString()).toBe('the secret ☂')
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('secret')
  for (const other of [{ browser: 'other' }, { place: '/other' }, { server: new Uint8Array(32) }]) {
    expect(openBytes({ ...purpose, ...other }, sealed)).toBeNull()
  }
})

test('a text that was altered or never sealed is not opened', () => {
  const bytes = Buffer.from(sealed, 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const altered = Buffer.from(bytes)
    altered[at] = (altered[at] ?? 0) ^ 1
    expect(openBytes(purpose, altered.toString('base64url'))).toBeNull()
  }
  for (const text of ['', 'x', sealed.slice(0, -2), `${sealed}AA`]) expect(openBytes(purpose, text)).toBeNull()
})
