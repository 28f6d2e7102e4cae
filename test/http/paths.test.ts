import { expect, test } from 'bun:test'
import { pathOf } from '../../src/http/paths.ts'

test('the path is everything between the host and the query, as it was sent', () => {
  expect(pathOf('http://localhost/a/%62?c=/d')).toBe('/a/%62')
  expect(pathOf('http://localhost/')).toBe('/')
  expect(pathOf('/a?b')).toBe('/a')
})

test('a URL without a path has an empty path', () => {
  for (const url of ['http://localhost', 'http://localhost?a', '*']) expect(pathOf(url)).toBe('')
})
