import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isRowKey, type RowKey, rowKey, rowKeyLength } from '../../src/domain/identifier.ts'
import { mintSecret, type SecretKind, secretPrefixes } from '../../src/domain/secret.ts'
import { createRandom } from '../../src/runtime/random.ts'
import { call } from '../support/call.ts'
import { isLong, patience, rounds, seed, seeded } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { appToken, createWorld, endWorld, type World } from '../support/world.ts'

/*
 * Whether a refusal takes longer where there is something to refuse. A report, never a rule of the tests: what a clock says
 * depends on the machine.
 */
let world: World
beforeAll(async () => {
  if (isLong) world = await createWorld()
})
afterAll(async () => {
  if (isLong) await endWorld(world)
})

const chance = seeded(seed)
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const resampled = (values: readonly number[]): number[] => values.map(() => values[chance(values.length)] ?? 0)

/** The difference of the medians, and between what 95 of 100 resamplings put it. */
const difference = (known: readonly number[], unknown: readonly number[]) => {
  const resamplings = Array.from({ length: 1_000 }, () => median(resampled(known)) - median(resampled(unknown)))
  const sorted = resamplings.toSorted((a, b) => a - b)
  return { is: median(known) - median(unknown), from: sorted[25] ?? 0, to: sorted[974] ?? 0 }
}

const us = (milliseconds: number): string =>
  `${milliseconds >= 0 ? '+' : '−'}${Math.abs(milliseconds * 1_000).toFixed(1)} µs`

/** Asks both in turn, in an order that chance decides each time. */
const compare = async (
  name: string,
  times: number,
  ask: (which: 'known' | 'unknown') => Promise<{ readonly status: number }>,
): Promise<void> => {
  const milliseconds: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  const once = async (which: 'known' | 'unknown') => {
    const began = performance.now()
    const { status } = await ask(which)
    milliseconds[which].push(performance.now() - began)
    expect(status).toBe(401)
  }
  for (let count = 0; count < times; count += 1) {
    const first = chance(2) === 0 ? 'known' : 'unknown'
    await once(first)
    await once(first === 'known' ? 'unknown' : 'known')
  }
  const { is, from, to } = difference(milliseconds.known, milliseconds.unknown)
  const verdict = from <= 0 && to >= 0 ? 'no difference found' : 'A DIFFERENCE'
  console.log(
    `  ${name}: medians ${(median(milliseconds.known) * 1_000).toFixed(1)} and ${(median(milliseconds.unknown) * 1_000).toFixed(1)} µs, ` +
      `difference ${us(is)} (95 %: ${us(from)} to ${us(to)}) in ${times} pairs: ${verdict}`,
  )
}

const random = createRandom()
const freshKey = (): RowKey => rowKey(random.uuid(Date.now()))
/** A well-formed secret under the key of this one, or under one that nobody has: it gets as far as the store. */
const forged = (kind: SecretKind, secret: string) => {
  const start = secretPrefixes[kind].length
  const key = secret.slice(start, start + rowKeyLength)
  if (!isRowKey(key)) throw new Error('not a secret of this kind')
  const under = (row: RowKey) => mintSecret({ kind, key: row, random: random.bytes(32) })
  return { known: under(key), unknown: under(freshKey()) }
}

test.if(isLong)(
  'how long refusals take for known and for unknown clients, tokens, sessions and users',
  async () => {
    const { server, app, user } = world
    const times = rounds(1)
    const post = async (path: string, body: unknown) => await call(server.url, 'POST', path, { body })
    const { clientId, clientSecret } = app.development
    const clients = { known: clientId, unknown: `apc_dev_${freshKey()}` }
    const wrong = forged('clientSecretDevelopment', clientSecret).known
    await compare(
      'clients',
      times,
      async (which) => await post('/token', { clientId: clients[which], clientSecret: wrong, scope: 'site:read' }),
    )
    const token = await appToken(server.url, app.development)
    const tokens = forged('appToken', token)
    await compare('app tokens', times, async (which) => await call(server.url, 'GET', '/me', { token: tokens[which] }))
    const { body } = await call(server.url, 'POST', '~/api/session', { body: user })
    const sessions = forged('session', body.sessionToken)
    await compare(
      'sessions',
      times,
      async (which) => await call(server.url, 'GET', '~/api/session', { token: sessions[which] }),
    )
    // A password as the program hashes it; those of other tests are made cheaply.
    const email = 'someone@example.com'
    const flags = ['--email', email, '--name', 'Someone', '--generate-password', '--database', server.database]
    expect((await runProgram(['user', 'create', ...flags])).code).toBe(0)
    const emails = { known: email, unknown: 'nobodyy@example.com' }
    await compare(
      'users',
      Math.ceil(times / 50),
      async (which) => await post('~/api/session', { email: emails[which], password: 'not the password' }),
    )
  },
  patience,
)
