import { expect, test } from 'bun:test'
import { recordText, tableText, wireRecord } from '../../src/cli/output.ts'

test('times are written as RFC 3339 with milliseconds; other numbers and null stay unchanged', () => {
  expect(wireRecord({ at: 0, createdAt: 1_790_000_000_000, endedAt: null, number: 7, format: 3 })).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    createdAt: '2026-09-21T14:13:20.000Z',
    endedAt: null,
    number: 7,
    format: 3,
  })
})

test('a record has one field per line, and nested fields by path', () => {
  expect(recordText({ id: 'app_1', label: null, scopes: ['a', 'b'], clientIds: { development: 'x' } })).toBe(
    'id                     app_1\nlabel                  -\nscopes                 a b\nclientIds.development  x',
  )
})

test('columns line up although some characters are two cells wide', () => {
  expect(
    tableText(
      [
        { name: '日本', n: 1 },
        { name: 'x', n: 22 },
      ],
      { Name: 'name', N: 'n' },
    ),
  ).toBe('NAME  N\n日本  1\nx     22')
})

test('a column has its own title and may show a nested field', () => {
  const records = [{ actor: { id: 'ada' } }, { actor: null }]
  expect(tableText(records, { 'Whose ID': 'actor.id' })).toBe('WHOSE ID\nada\n-')
})

test('text from others cannot send control characters to the terminal', () => {
  const hostile = 'a\u001b[2Jb\r\nc\u202ed\u009be'
  expect(recordText({ name: hostile })).toBe('name  a\ufffd[2Jb\ufffd\ufffdc\ufffdd\ufffde')
  expect(tableText([{ name: hostile }], { Name: 'name' })).toBe('NAME\na\ufffd[2Jb\ufffd\ufffdc\ufffdd\ufffde')
})
