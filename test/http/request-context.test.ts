import { expect, test } from 'bun:test'
import { contextOf, rememberContext } from '../../src/http/request-context.ts'
import { contextFrom } from './support/door.ts'

test('a request that did not come through the server is answered by nothing', () => {
  const request = new Request('http://localhost/')
  expect(() => contextOf(request)).toThrow('did not come through the server')
  const context = contextFrom('local')
  rememberContext(request, context)
  expect(contextOf(request)).toBe(context)
})
