import { expect, test } from 'bun:test'
import {
  generatedPassword,
  generatedPasswordBytes,
  newPasswordFault,
  passwordFault,
} from '../../src/domain/password.ts'

test('a password has at least 8 characters, as a person counts them', () => {
  expect(passwordFault('1234567')).toMatch(/fewer than 8/)
  expect(passwordFault('12345678')).toBeNull()
  expect(passwordFault('\u{1f600}'.repeat(4))).toMatch(/fewer than 8/)
  expect(passwordFault('\u{1f600}'.repeat(8))).toBeNull()
  expect(passwordFault('')).not.toBeNull()
})

test('a password that bcrypt would truncate is refused', () => {
  expect(passwordFault('a'.repeat(72))).toBeNull()
  expect(passwordFault('a'.repeat(73))).toMatch(/longer than 72 bytes/)
  expect(passwordFault('\u00fc'.repeat(36))).toBeNull()
  expect(passwordFault('\u00fc'.repeat(37))).toMatch(/longer than 72 bytes/)
  expect(passwordFault('long enough\0 and more')).toMatch(/cannot be used/)
})

test('a password is measured in its composed form, however the keyboard makes its letters', () => {
  expect(passwordFault('e\u0301'.repeat(7))).toMatch(/fewer than 8/)
  expect(passwordFault('e\u0301'.repeat(8))).toBeNull()
  expect(passwordFault('u\u0308'.repeat(36))).toBeNull()
  expect(passwordFault('u\u0308'.repeat(37))).toMatch(/longer than 72 bytes/)
  expect(passwordFault('\u1112\u1161\u11ab'.repeat(8))).toBeNull()
})

test('ill-formed passwords are refused, since bcrypt could hash two of them alike', () => {
  expect(passwordFault('longenough\ud800')).toMatch(/cannot be used/)
})

test('a new password has no character that cannot be typed when it is asked for', () => {
  for (const password of [
    'correct horse\nbattery',
    'correct\thorse',
    '\u001bcorrect horse',
    'correct horse\u2028',
    'correct horse\r',
  ]) {
    expect(newPasswordFault(password)).toContain('no browser lets anybody type')
    expect(passwordFault(password)).toBeNull() // users who already have one can still sign in
  }
  for (const password of [' correct horse ', 'korrektes\u00a0Pferd', 'صحیح‌ اسب باتری'])
    expect(newPasswordFault(password)).toBeNull()
})

test('the fault never repeats a part of the password', () => {
  for (const password of ['hunter2', 'hunter2\0hunter2', 'hunter2'.repeat(20)]) {
    expect(passwordFault(password)).not.toContain('hunter')
  }
})

test('a new password must not be one of the most common ones, in any case or width of letters', () => {
  const common = [
    'password',
    'PassWord1',
    '12345678',
    'iloveyou',
    'qwertyuiop',
    'trustno1',
    '\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44',
  ]
  for (const password of common) {
    expect(newPasswordFault(password)).toMatch(/10,000 most common/)
    expect(passwordFault(password)).toBeNull() // users who already have one can still sign in
  }
  for (const password of ['correct horse', 'password of mine', '# Copyright', 'permission']) {
    expect(newPasswordFault(password)).toBeNull()
  }
  expect(newPasswordFault('short')).toMatch(/fewer than 8/)
})

test('a generated password holds 128 bits, needs no quoting and can be used', () => {
  const password = generatedPassword(new Uint8Array(generatedPasswordBytes).fill(0xff))
  expect(generatedPasswordBytes * 8).toBe(128)
  expect(password).toMatch(/^[0-9A-Za-z]{22}$/)
  expect(passwordFault(password)).toBeNull()
  expect(generatedPassword(new Uint8Array(generatedPasswordBytes))).not.toBe(password)
})
