import { describe, expect, test } from 'bun:test'
import { callerTokens, tokenFor } from '../flows/support/caller-tokens.ts'
import { bodyRoutes } from '../flows/support/contract-routes.ts'
import { expectEnvelope } from '../flows/support/expect-refusal.ts'
import { chunked, send } from '../flows/support/send.ts'
import { codeOf } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'

// Bodies within the limits of their size that cost a careless reader all its time, stack or memory.

const world = await worldOfFile()
const { url } = world.server
const tokens = await callerTokens(world)

const paths = [...new Set(bodyRoutes.map(({ path }) => path)), '~/api/session', '~/api/embedded/session']
const small = 60 * 1024
const large = 15 * 1024 * 1024

/** A member as long as the limit allows, after others. */
const member = (text: string): string => `{"bomb":${text}}`
const filled = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / unit.length))
const distinctKeys = (bytes: number): string =>
  Array.from({ length: Math.floor(bytes / 14) }, (_, at) => `"${at.toString(36).padStart(8, '_')}":1`).join(',')

type Bomb = readonly [what: string, body: (bytes: number) => string, outcome: 'invalid_json' | 'read']

const bombs: readonly Bomb[] = [
  ['brackets alone', (bytes) => filled('[', bytes), 'invalid_json'],
  ['braces alone', (bytes) => filled('{"a":', bytes), 'invalid_json'],
  ['lists within lists', (bytes) => member(filled('[', bytes / 2) + filled(']', bytes / 2)), 'invalid_json'],
  ['33 levels', () => member(`${'['.repeat(32)}${']'.repeat(32)}`), 'invalid_json'],
  ['32 levels', () => member(`${'['.repeat(31)}${']'.repeat(31)}`), 'read'],
  ['a long list of lists', (bytes) => member(`[${filled('[],', bytes)}[]]`), 'read'],
  ['a long list of numbers', (bytes) => member(`[${filled('0,', bytes)}0]`), 'read'],
  ['very many keys', (bytes) => member(`{${distinctKeys(bytes)}}`), 'read'],
  ['one key very many times', (bytes) => member(`{${filled('"a":1,', bytes)}"a":1}`), 'invalid_json'],
  ['one key twice, first and last', () => '{"a":1,"b":2,"a":3}', 'invalid_json'],
  ['one key in two spellings', () => String.raw`{"scope":"a","\u0073cope":"b"}`, 'invalid_json'],
  ['a very long key', (bytes) => `{"${filled('k', bytes)}":1}`, 'read'],
  ['a number of very many digits', (bytes) => member(filled('9', Math.min(bytes, 300))), 'read'],
  ['a number beyond all doubles by its digits', (bytes) => member(filled('9', bytes)), 'invalid_json'],
  ['a fraction of very many digits', (bytes) => member(`0.${filled('9', bytes)}`), 'read'],
  ['1e400', () => member('1e400'), 'invalid_json'],
  ['-1e400', () => member('-1e400'), 'invalid_json'],
  ['an exponent of very many digits', (bytes) => member(`1e${filled('9', bytes)}`), 'invalid_json'],
  ['a number that is nearly nothing', () => member('1e-400'), 'read'],
  ['a text of escapes', (bytes) => member(`"${filled(String.raw`\u0041`, bytes)}"`), 'read'],
  ['a text of backslashes', (bytes) => member(`"${filled('\\\\', bytes)}"`), 'read'],
  ['a text of backslashes that does not end', (bytes) => member(`"${filled('\\"', bytes)}`), 'invalid_json'],
  ['blanks', (bytes) => `${filled(' ', bytes)}{}`, 'read'],
  [
    'the keys of a prototype',
    () => '{"constructor":{"prototype":{"consent":true}},"hasOwnProperty":1,"toString":1,"then":1}',
    'read',
  ],
  ['__proto__', () => '{"__proto__":{"consent":true,"clientId":"x"}}', 'invalid_json'],
  ['__proto__ deep inside', () => member('[[{"__proto__":null}]]'), 'invalid_json'],
]

for (const [what, body, outcome] of bombs) {
  test(`${what}: every endpoint answers ${outcome === 'read' ? 'as to any body without its fields' : outcome}`, async () => {
    for (const path of paths) {
      const answer = await send(url, 'POST', path, { ...tokenFor(path, tokens), body: body(small) })
      // With nothing that is needed; a rollback needs nothing, and revocation a caller.
      const read = path === '/versions/rollback' ? [404, 409] : path === '/oauth/revoke' ? [401] : [400]
      if (outcome === 'invalid_json') expect([path, codeOf(answer)]).toEqual([path, 'invalid_json'])
      else expect([path, read.includes(answer.status), codeOf(answer) === 'invalid_json']).toEqual([path, true, false])
      expectEnvelope(answer)
    }
  })
}

describe('an upload of 15 MiB', () => {
  // What stands outside of texts may be 2 MiB at most: reading more of it would hold everybody up.
  const chosen = new Set(['lists within lists', 'very many keys', 'one key very many times', 'a text of escapes'])
  const long = bombs.filter(([what]) => chosen.has(what))

  test.each(long)('of %s is refused, with a length and without, and others are answered meanwhile', async (_, body) => {
    const bytes = new TextEncoder().encode(body(large))
    const asked = [bytes, chunked(bytes)].map(
      async (sent) => await send(url, 'POST', '/versions', { token: tokens.app, body: sent }),
    )
    for (let at = 0; at < 5; at += 1) expect((await send(url, 'GET', '/me', { token: tokens.app })).status).toBe(200)
    for (const answer of await Promise.all(asked)) {
      expect(['invalid_json', 'payload_too_large', 'invalid_request']).toContain(codeOf(answer))
      expectEnvelope(answer)
    }
  })
})
