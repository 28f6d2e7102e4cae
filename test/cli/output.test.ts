import { expect, test } from 'bun:test'
import { recordText, tableText } from '../../src/cli/output.ts'
import { wireRecord } from '../../src/domain/timestamp.ts'

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

const scopes = [
  { id: 'one', scopes: ['profile:read', 'site:read', 'store:read'], createdAt: '2026-08-01T12:00:00.000Z' },
  { id: 'two', scopes: [], createdAt: '2026-08-02T12:00:00.000Z' },
]
const columns = { ID: 'id', Scopes: 'scopes', Created: 'createdAt' }

test('a table that is wider than the terminal continues long cells on the next line, and cuts nothing off', () => {
  expect(tableText(scopes, columns, 38)).toBe(
    [
      'ID   SCOPES           CREATED',
      'one  profile:read     2026-08-01',
      '     site:read        12:00:00Z',
      '     store:read',
      'two  -                2026-08-02',
      '                      12:00:00Z',
    ].join('\n'),
  )
  for (let width = 29; width < 80; width += 1) {
    const lines = tableText(scopes, columns, width).split('\n')
    expect({ width, fits: Math.max(...lines.map((line) => Bun.stringWidth(line))) <= width }).toEqual({
      width,
      fits: true,
    })
  }
})

test('where not even the words fit, each record is a block; without a terminal each is one line', () => {
  expect(tableText(scopes, columns, 20)).toBe(
    [
      'ID       one',
      'Scopes   profile:read site:read store:read',
      'Created  2026-08-01T12:00:00.000Z',
      '',
      'ID       two',
      'Scopes   -',
      'Created  2026-08-02T12:00:00.000Z',
    ].join('\n'),
  )
  expect(tableText(scopes, columns, null).split('\n').length).toBe(3)
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
