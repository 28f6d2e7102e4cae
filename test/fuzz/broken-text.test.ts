import { expect, test } from 'bun:test'
import { endpointsOf } from '../../src/http/table.ts'
import { addOperator } from '../pages/support/operator-world.ts'
import { pageTable } from '../pages/support/page-table.ts'
import { cookieNamed } from '../support/cookie.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { signIn } from '../support/world.ts'

// Text that no database stores, or that is no text, in every place of every call where a stranger can put it. An operator sends it, so
// that nothing stops it before it would reach the database.

const world = await worldOfFile()
const { url } = world.server
const session = await signIn(url, await addOperator(world.platform, 'Olive Operator'))
const cookie = `${cookieNamed(url, 'session')}=${session}`

/** NUL, bytes that are no UTF-8, a character cut off, an overlong form, and lone surrogates. */
const broken = ['%00', 'a%00b', '%ff', '%c3', '%c0%80', '%ed%a0%80', '%ed%b0%80', '%f4%90%80%80']
const routes = [
  ...pageTable(world.platform),
  ...endpointsOf({ servesMetrics: true }).map(({ method, path }) => ({ method, pattern: path })),
]
const names =
  'q part cursor limit email status kind return_to back state code iss request verifier link scope before since target'.split(
    ' ',
  )

const statusOf = async (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
) => {
  const answer = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      cookie,
      accept: 'text/html',
      'sec-fetch-site': 'same-origin',
      'x-service-api-version': '2026-08',
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  await answer.body?.cancel()
  return answer.status
}
/** The path with this text for one of its parameters, once for each of them. */
const withBroken = (pattern: string, text: string): readonly string[] => {
  const segments = pattern.split('/')
  return segments.flatMap((segment, at) =>
    segment.startsWith(':')
      ? [segments.map((other, index) => (index === at ? text : other.startsWith(':') ? 'x' : other)).join('/')]
      : [],
  )
}
const plain = (pattern: string): string => pattern.replaceAll(/:[^/]+/g, 'x')

test('in a parameter of a path it is refused, on every route', async () => {
  const wrong: unknown[] = []
  for (const { method, pattern } of routes) {
    for (const path of broken.flatMap((text) => withBroken(pattern, text))) {
      const status = await statusOf(method, path)
      if (![400, 401, 404].includes(status)) wrong.push([method, path, status])
    }
  }
  expect(wrong).toEqual([])
}, 120_000)

test('in a query it is refused, on every route', async () => {
  const wrong: unknown[] = []
  for (const { method, pattern } of routes) {
    for (const [index, text] of broken.entries()) {
      for (const query of [
        `${names[index] ?? 'q'}=${text}`,
        names.map((name) => `${name}=${text}`).join('&'),
        `${text}=x`,
      ]) {
        const status = await statusOf(method, `${plain(pattern)}?${query}`)
        if (![400, 401, 415].includes(status)) wrong.push([method, pattern, query.slice(0, 30), status])
      }
    }
  }
  expect(wrong).toEqual([])
}, 120_000)

test('in a cookie, in HTTP Basic or in a form it fails no call', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const wrong: unknown[] = []
  const sessionName = cookieNamed(url, 'session')
  for (const { method, pattern } of routes) {
    for (const text of broken) {
      const basic = Buffer.from(`${decoded(text)}:${decoded(text)}`, 'latin1').toString('base64')
      const tries = [
        { cookie: `${sessionName}=${text}` },
        { cookie: `${cookie}; ${text}=${text}; done=${text}` },
        { authorization: `Basic ${basic}` },
      ].map(async (headers) => await statusOf(method, plain(pattern), headers))
      const bodies =
        method === 'POST' ? [await statusOf(method, plain(pattern), form, `ticket=${text}&client_id=${text}`)] : []
      const statuses = [...(await Promise.all(tries)), ...bodies]
      if (statuses.some((status) => status >= 500)) wrong.push([method, pattern, text, statuses])
    }
  }
  expect(wrong).toEqual([])
}, 120_000)

/** The bytes that escapes stand for, as Latin-1. */
const decoded = (text: string): string =>
  text.replaceAll(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
