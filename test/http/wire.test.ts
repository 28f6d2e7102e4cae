import { expect, test } from 'bun:test'
import { pageRequest, refuseRepeated, wireCursor } from '../../src/http/wire.ts'

const ask = (query: string) => () => refuseRepeated(new Request(`http://localhost/x${query}`), ['limit', 'cursor'])
const cursorOf = (text: string) => Buffer.from(text).toString('base64url')

test('a cursor leads to its position in its own list', () => {
  for (const position of ['ver_1', '2026-08', 'my-site']) {
    expect(pageRequest('versions', { cursor: wireCursor('versions', position) ?? '' }).cursor).toBe(position)
  }
  expect(wireCursor('versions', null)).toBeNull()
  expect(pageRequest('versions', {})).toEqual({ limit: 20, cursor: null })
})

test('a cursor of another list, without a position, with additions or in another spelling is refused', () => {
  for (const cursor of [
    '',
    'ver_1',
    cursorOf('versions'),
    cursorOf('versions '),
    cursorOf('resources ver_1'),
    cursorOf('versions ver_1 more'),
    `${cursorOf('versions ver_1')}=`,
    cursorOf(`versions ${'x'.repeat(300)}`),
  ]) {
    expect(() => pageRequest('versions', { cursor })).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ param: 'cursor' }) }),
    )
  }
})

test('a page has from 1 to 100 rows', () => {
  for (const limit of ['1', '20', '100']) expect(pageRequest('versions', { limit }).limit).toBe(Number(limit))
  for (const limit of ['', '0', '00', '01', '101', '1000', '-1', '1.0', '1e1', ' 1', 'all']) {
    expect(() => pageRequest('versions', { limit })).toThrow()
  }
})

test('a repeated parameter is refused', () => {
  for (const fine of ['', '?', '?limit=1', '?limit=1&cursor=a', '?other=1&other=2&limit=1'])
    expect(ask(fine)).not.toThrow()
  for (const twice of ['?limit=1&limit=1', '?a=1&cursor=&cursor=', '?limit=1&l%69mit=2']) {
    expect(ask(twice)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  }
})
