import { describe, expect, test } from 'bun:test'
import { createRouter } from '../../src/http/router.ts'

const router = createRouter<string>()
router.add(
  [
    { method: 'GET', path: '/' },
    { method: 'GET', path: '/me' },
    { method: 'POST', path: '/me' },
    { method: 'DELETE', path: '/me' },
    { method: 'GET', path: '/apps/:id' },
    { method: 'POST', path: '/apps/:id/secrets' },
    { method: 'GET', path: '/apps/new' },
  ],
  (method, pattern) => `${method} ${pattern}`,
)
const found = (method: string, path: string): string => {
  const match = router.find(method, path)
  return match.kind === 'found' ? match.route : match.kind
}

describe('a route is found', () => {
  test.each([
    ['GET', '/', 'GET /'],
    ['GET', '/me', 'GET /me'],
    ['POST', '/me', 'POST /me'],
    ['HEAD', '/me', 'GET /me'],
    ['GET', '/apps/x', 'GET /apps/:id'],
    ['GET', '/apps/new', 'GET /apps/new'],
    ['GET', '/apps/%C3%BC', 'GET /apps/:id'],
    ['POST', '/apps/x/secrets', 'POST /apps/:id/secrets'],
  ])('for %p %p: %p', (method, path, route) => {
    expect(found(method, path)).toBe(route)
  })

  test.each([
    '',
    '//',
    '/me/',
    '//me',
    '/me//',
    '/ME',
    '/m%65',
    '/me#x',
    '/apps',
    '/apps/',
    '/apps/x/',
    '/apps//secrets',
    '/apps/%zz',
    '/apps/%ff',
    '/apps/%',
    'me',
    '*',
    '/__proto__',
    '/constructor',
  ])('for no other spelling: %p', (path) => {
    expect(found('GET', path)).toBe('not_found')
  })

  test('only with its own methods, which the refusal lists', () => {
    expect(router.find('PUT', '/me')).toEqual({
      kind: 'method_not_allowed',
      allow: 'DELETE, GET, HEAD, POST',
      pattern: '/me',
    })
    expect(router.find('OPTIONS', '/apps/x/secrets')).toEqual({
      kind: 'method_not_allowed',
      allow: 'POST',
      pattern: '/apps/:id/secrets',
    })
    expect(found('HEAD', '/apps/x/secrets')).toBe('method_not_allowed')
  })
})
