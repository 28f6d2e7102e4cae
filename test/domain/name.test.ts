import { expect, test } from 'bun:test'
import { nameFault } from '../../src/domain/name.ts'

test.each(['', ' ', '\u00a0\u2003', '\u200b', '\u3164\u200d', '\u2800', '\u{e0020}', '\ufeff\u00ad'])(
  'a name of which nothing can be seen is empty: %p',
  (name) => expect(nameFault(name)).toBe('The name is empty.'),
)

test('a letter carries no tower of marks, which would cover what stands around the name', () => {
  expect(nameFault(`N${'\u0331'.repeat(9)}ame`)).toBe('The name has too many marks on one letter.')
})

test('half a character is broken', () => expect(nameFault('Newsletter \ud800')).toBe('The name has broken characters.'))

test.each(['A\nB', 'A\u202eB', 'A\u2066B', 'A\u0007', 'A\u2028B'])('a name cannot pose as another text: %p', (name) =>
  expect(nameFault(name)).toBe('The name has control characters.'),
)

test.each(['Newsletter', 'Café'.normalize('NFD'), '👩‍👩‍👧‍👦', 'שָׁלוֹם', 'བསྒྲུབས', 'न्यूज़लेटर', 'می‌خواهم', '<b>"', 'x'.repeat(200)])(
  'a name in any script is one: %p',
  (name) => expect(nameFault(name)).toBeNull(),
)

test('a name has at most 200 characters', () => expect(nameFault('x'.repeat(201))).not.toBeNull())
