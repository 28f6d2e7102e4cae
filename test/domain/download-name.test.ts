import { expect, test } from 'bun:test'
import { assert, property, string } from 'fast-check'
import { downloadName } from '../../src/domain/download-name.ts'

test('an ordinary name stays as it is', () => {
  for (const name of ['app.tar.gz', 'naïve – 文件.zip', 'a b (1).zip', "it's", 'no-extension'])
    expect(downloadName(name)).toBe(name)
})

test('any text becomes a name that is visible, has no path, is not hidden, and fits every file system', () => {
  assert(
    property(string({ unit: 'binary', maxLength: 400 }), (text) => {
      const name = downloadName(text)
      expect(name).not.toMatch(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/u)
      expect(name).not.toMatch(/^[.\s]|[.\s]$|^$/)
      expect(name.isWellFormed()).toBe(true)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    }),
    { numRuns: 2000 },
  )
})

test('a long name loses the end of its stem, never half a character, and keeps its extension', () => {
  expect(downloadName(`${'x'.repeat(300)}.tar.gz`)).toBe(`${'x'.repeat(252)}.gz`)
  expect(downloadName(`${'é'.repeat(200)}.zip`)).toBe(`${'é'.repeat(125)}.zip`)
  expect(downloadName(`a.${'x'.repeat(300)}`)).toHaveLength(255)
})

test('an extension of up to twenty characters with its dot is kept', () => {
  const [longest, longer] = [`.${'e'.repeat(19)}`, `.${'e'.repeat(20)}`]
  expect(downloadName('x'.repeat(300) + longest)).toBe('x'.repeat(235) + longest)
  expect(downloadName('x'.repeat(300) + longer)).toBe('x'.repeat(255))
})

test('a name that Windows treats as a device is changed', () => {
  for (const name of ['con', 'NUL.txt', 'com1.tar.gz', 'LPT9']) expect(downloadName(name)).toBe(`_${name}`)
  for (const name of ['console.txt', 'com10', 'nullable']) expect(downloadName(name)).toBe(name)
})
