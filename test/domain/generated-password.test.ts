import { expect, test } from 'bun:test'
import { generatedPassword, generatedPasswordBytes } from '../../src/domain/generated-password.ts'
import { passwordFault } from '../../src/domain/password.ts'

test('a generated password holds 128 bits, needs no quoting and can be used', () => {
  const password = generatedPassword(new Uint8Array(generatedPasswordBytes).fill(0xff))
  expect(generatedPasswordBytes * 8).toBe(128)
  expect(password).toMatch(/^[0-9A-Za-z]{22}$/)
  expect(passwordFault(password)).toBeNull()
  expect(generatedPassword(new Uint8Array(generatedPasswordBytes))).not.toBe(password)
})
