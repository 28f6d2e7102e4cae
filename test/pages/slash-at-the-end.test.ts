import { expect, test } from 'bun:test'
import { isPageRoute } from '../../src/pages/refusal-page.tsx'
import { rawAnswer } from '../http/support/raw-client.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const { server } = await worldOfFile()
const ask = async (path: string, method = 'GET') => {
  const { port } = new URL(server.url)
  const { status, headers } = await rawAnswer(
    Number(port),
    `${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n${method === 'POST' ? 'Content-Length: 0\r\n' : ''}\r\n`,
  )
  return [status, headers.get('location')]
}

/** The pages that are read, and what programs read, with something in the place of every parameter. */
const pages = [
  '/account',
  '/account/sessions',
  '/sign-in',
  '/console',
  '/console/any',
  '/desk/audit',
  '/oauth/authorize',
]
const references = ['/docs', '/docs/api', '/docs/guides', '/docs/guides/settings']
const ofPrograms = [
  '/api/session',
  '/api/apps/me',
  '/oauth/userinfo',
  '/openapi.json',
  '/healthz',
  '/readyz',
  '/metrics',
]

test.each([...pages, ...references])('GET %s/ leads to the page, with the same query', async (path) => {
  for (const method of ['GET', 'HEAD']) {
    for (const [end, query] of [
      ['/', ''],
      ['/', '?a=b%2F&c=//d?e'],
      ['//', '?'],
    ]) {
      expect(await ask(`${path}${end}${query}`, method)).toEqual([303, `${path}${query}`])
    }
  }
})

test.each([...pages, ...references])('a form that is sent to %s/ is not led on', async (path) => {
  expect(await ask(`${path}/`, 'POST')).toEqual([404, null])
})

test.each([...ofPrograms, '/.well-known/oauth-authorization-server'])('GET %s/ is no address', async (path) => {
  expect(isPageRoute(path)).toBe(false)
  expect(await ask(`${path}/`)).toEqual([404, null])
})

test.each([
  '/sign-out',
  '/nothing',
  '//evil.example',
  '/\\evil.example',
  '/%2Fevil.example',
  '//account',
  '/.//evil.example',
  '///',
  '/account//..//evil.example',
])('GET %s/ leads nowhere, because nothing can be read there', async (path) => {
  expect(await ask(`${path}/`)).toEqual([404, null])
})
