import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createCredential } from '../../src/operations/credentials/create-credential.ts'
import { listCredentials } from '../../src/operations/credentials/list-credentials.ts'
import { revokeCredential } from '../../src/operations/credentials/revoke-credential.ts'
import { rotateCredential } from '../../src/operations/credentials/rotate-credential.ts'
import { moveVersion } from '../../src/operations/versions/move-version.ts'
import { type Answer, call, codeOf, type Json } from '../support/call.ts'
import { crash, tally, together } from '../support/crash.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import {
  addApp,
  type AppInWorld,
  appToken,
  authorize,
  createWorld,
  endWorld,
  exchange,
  exchangeBody,
  grantTokens,
  refresh,
  refreshBody,
  signIn,
  type Tokens,
  type World,
} from '../support/world.ts'

let world: World
let session: string
let bystander: Tokens

beforeAll(async () => {
  world = await createWorld()
  session = await signIn(world.server.url, world.user)
  bystander = await grantTokens(world)
})
afterAll(async () => {
  // Whatever was killed in between, a grant that nobody touched is as it was.
  expect(await whoIs(bystander.accessToken)).toBe(200)
  expect(await world.platform.database.check()).toEqual([])
  await endWorld(world)
})

const whoIs = async (accessToken: string): Promise<number> =>
  (await call(world.server.url, 'GET', '/oauth/me', { token: accessToken })).status
const appStatus = async (token: string): Promise<number> =>
  (await call(world.server.url, 'GET', '/me', { token })).status
const send = async (path: string, body: unknown, key?: string, token?: string): Promise<Answer> =>
  await call(world.server.url, 'POST', path, {
    body,
    ...(token === undefined ? {} : { token }),
    ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
  })
const freshCode = async (): Promise<string> => await authorize(world.server.url, session, world.app)
const tokensOf = ({ body }: Answer): Tokens => body
const grantOf = async (id: string) => await world.platform.database.queries.grants.byId(id)

/** The pairs of a grant, by walking back from its current one. */
const pairsOf = async (grantId: string): Promise<number> => {
  const { grants } = world.platform.database.queries
  let pairs = 0
  for (let key = (await grantOf(grantId))?.currentKey ?? ''; ; pairs += 1) {
    const found = await grants.findPair(key)
    if (found === null) return pairs
    key = found.pair.previousKey
  }
}

const expectDead = async (tokens: Tokens) => {
  expect(await whoIs(tokens.accessToken)).toBe(401)
  expect((await refresh(world.server.url, world.app, tokens.refreshToken)).status).toBe(401)
}

describe('a code', () => {
  test('exchanged 200 times at once is won once, the replays end what it issued, and a crash changes nothing of it', async () => {
    const code = await freshCode()
    const answers = await together(200, async () => await exchange(world.server.url, world.app, code))
    world = await crash(world)

    expect(tally(answers)).toEqual({ '200': 1, invalid_grant: 199 })
    const won = answers.filter(({ status }) => status === 200).map(tokensOf)
    expect(won).toHaveLength(1)
    for (const tokens of won) {
      expect(await pairsOf(tokens.grantId)).toBe(1)
      expect((await grantOf(tokens.grantId))?.revokedAt).not.toBeNull()
      await expectDead(tokens)
    }
    expect((await exchange(world.server.url, world.app, code)).status).toBe(401)
  })

  test('exchanged 200 times at once with one idempotency key gives the very same tokens, also after a crash', async () => {
    const code = await freshCode()
    const body = exchangeBody(world.app, code)
    const answers = await together(200, async () => await send('/oauth/token', body, 'exchange-once'))
    world = await crash(world)

    expect(tally(answers)).toEqual({ '200': 200 })
    const again = await send('/oauth/token', body, 'exchange-once')
    expect(new Set([...answers, again].map(secretsIn)).size).toBe(1)
    const tokens = tokensOf(again)
    expect(await pairsOf(tokens.grantId)).toBe(1)
    expect(await whoIs(tokens.accessToken)).toBe(200)
    expect((await refresh(world.server.url, world.app, tokens.refreshToken)).status).toBe(200)
  })

  test('exchanged at once under 50 different idempotency keys is won once and its family ends', async () => {
    const code = await freshCode()
    const body = exchangeBody(world.app, code)
    const answers = await together(50, async (index) => await send('/oauth/token', body, `exchange-${index}`))

    expect(tally(answers)).toEqual({ '200': 1, invalid_grant: 49 })
    for (const answer of answers) if (answer.status === 200) await expectDead(tokensOf(answer))
  })

  test("raced for by another app is its own app's, and the other's attempts end nothing", async () => {
    const other = await addApp(world.platform, world.user)
    const code = await freshCode()
    const stolen = { ...exchangeBody(world.app, code), ...other.development }
    const answers = await together(60, async (index) =>
      index === 30 ? await exchange(world.server.url, world.app, code) : await send('/oauth/token', stolen),
    )

    expect(tally(answers)).toEqual({ '200': 1, invalid_grant: 59 })
    for (const answer of answers) if (answer.status === 200) expect(await whoIs(tokensOf(answer).accessToken)).toBe(200)
  })

  test('with a wrong verifier among the racers is still won by the right one alone', async () => {
    const code = await freshCode()
    const wrong = { ...exchangeBody(world.app, code), codeVerifier: 'w'.repeat(43) }
    const answers = await together(60, async (index) =>
      index === 59 ? await exchange(world.server.url, world.app, code) : await send('/oauth/token', wrong),
    )

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers[59]?.status).toBe(200)
  })
})

test('the store itself moves a grant on only from the key that is current, and never a revoked one', async () => {
  const tokens = await grantTokens(world)
  const { database } = world.platform
  const grant = await grantOf(tokens.grantId)
  const step = {
    currentKey: 'n'.repeat(22),
    expiresAt: 0,
    retryKey: null,
    retrySalt: null,
    retryFingerprint: null,
    retryUntil: null,
  }
  const moves = await database.transaction(async (q) => [
    await q.grants.advance(tokens.grantId, 'x'.repeat(22), step),
    await q.grants.advance(tokens.grantId, grant?.currentKey ?? '', step),
    await q.grants.advance(tokens.grantId, grant?.currentKey ?? '', step),
    await q.grants.revoke(tokens.grantId, 1),
    await q.grants.advance(tokens.grantId, step.currentKey, step),
    await q.grants.revoke(tokens.grantId, 2),
  ])

  expect(moves).toEqual([false, true, false, true, false, false])
  expect((await grantOf(tokens.grantId))?.revokedAt).toBe(1)
})

const secretsIn = ({ body }: Answer): string => `${body.accessToken} ${body.refreshToken} ${body.grantId}`

describe('a refresh token', () => {
  test('presented 200 times at once has one successor, and the family ends for good', async () => {
    const tokens = await grantTokens(world)
    const answers = await together(200, async () => await refresh(world.server.url, world.app, tokens.refreshToken))
    world = await crash(world)

    expect(tally(answers)).toEqual({ '200': 1, invalid_grant: 199 })
    expect(await pairsOf(tokens.grantId)).toBe(2)
    await expectDead(tokens)
    for (const answer of answers) if (answer.status === 200) await expectDead(tokensOf(answer))
  })

  test('presented 200 times at once with one idempotency key gives the very same tokens, also after a crash', async () => {
    const tokens = await grantTokens(world)
    const body = refreshBody(world.app, tokens.refreshToken)
    const answers = await together(200, async () => await send('/oauth/token', body, 'refresh-once'))
    world = await crash(world)

    expect(tally(answers)).toEqual({ '200': 200 })
    const again = await send('/oauth/token', body, 'refresh-once')
    expect(new Set([...answers, again].map(secretsIn)).size).toBe(1)
    expect(await pairsOf(tokens.grantId)).toBe(2)
    expect(await whoIs(tokens.accessToken)).toBe(401)
    expect(await whoIs(tokensOf(again).accessToken)).toBe(200)
  })

  test('repeated after its successor was presented is reuse: nothing of the family works any more', async () => {
    const tokens = await grantTokens(world)
    const body = refreshBody(world.app, tokens.refreshToken)
    const first = tokensOf(await send('/oauth/token', body, 'late'))
    const second = tokensOf(await refresh(world.server.url, world.app, first.refreshToken))

    expect((await send('/oauth/token', body, 'late')).status).toBe(401)
    await expectDead(second)
  })

  test('racing a revocation of its grant, by whomever, leaves nothing alive once the revocation has answered', async () => {
    for (let round = 0; round < 45; round += 1) {
      const tokens = await grantTokens(world)
      const revoke = revocations[round % revocations.length] ?? revokeByClient
      const known: Tokens[] = [tokens]
      const chain = (async () => {
        for (let steps = 0; steps < 4; steps += 1) {
          const last = known.at(-1) ?? tokens
          const answer = await refresh(world.server.url, world.app, last.refreshToken)
          if (answer.status !== 200) return
          known.push(tokensOf(answer))
        }
      })()
      if (round % 3 > 0) await Bun.sleep(round % 5)
      const revoked = await revoke(tokens)
      const atOnce = await Promise.all(known.map(async ({ accessToken }) => await whoIs(accessToken)))
      await chain
      // A bearer token that a refresh has replaced meanwhile cannot revoke any more, and says so.
      if (revoked.status !== 200) {
        expect(revoke).toBe(revokeByBearer)
        expect(revoked.status).toBe(401)
        continue
      }
      expect(atOnce).not.toContain(200)
      for (const each of known) expect(await whoIs(each.accessToken)).toBe(401)
      if (round % 15 === 14) world = await crash(world)
      const last = known.at(-1) ?? tokens
      await expectDead(last)
    }
  }, 60_000)
})

const revokeByClient = async ({ refreshToken }: Tokens): Promise<Answer> =>
  await send('/oauth/revoke', { ...world.app.development, token: refreshToken })
const revokeByBearer = async ({ accessToken }: Tokens): Promise<Answer> =>
  await send('/oauth/revoke', {}, undefined, accessToken)
const revokeByUser = async ({ grantId }: Tokens): Promise<Answer> =>
  await send('/oauth/revoke', { grantId }, undefined, session)
const revocations = [revokeByClient, revokeByBearer, revokeByUser]

describe('versions', () => {
  let app: AppInWorld
  let token: string
  beforeAll(async () => {
    app = await addApp(world.platform, world.user)
    token = await appToken(world.server.url, app.development)
  })
  const rows = async () =>
    await world.platform.database.queries.versions.list(app.id, null, Number.MAX_SAFE_INTEGER, 500)
  const upload = async (version: string, key?: string, more: Record<string, unknown> = {}) =>
    await send('/versions', { version, ...more }, key, token)

  test('200 parallel creates of one version make one row whose revision counts them all, also after a crash', async () => {
    const answers = await together(200, async (index) => await upload('1.0.0', undefined, { notes: `note ${index}` }))
    world = await crash(world)

    expect(tally(answers)).toEqual({ '201': 1, '200': 199 })
    const revisions = answers.map(({ body }) => body.revision).toSorted((a, b) => a - b)
    expect(revisions).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
    const found = await rows()
    expect(found.map(({ number, revision, status }) => ({ number, revision, status }))).toEqual([
      { number: 1, revision: 200, status: 'draft' },
    ])
    const last = answers.find(({ body }) => body.revision === 200)
    expect(found[0]?.notes).toBe(last?.body.notes)
  })

  test('60 parallel creates of different versions get 60 different numbers without a gap', async () => {
    const before = (await rows()).length
    const answers = await together(60, async (index) => await upload(`2.${index}.0`))

    expect(tally(answers)).toEqual({ '201': 60 })
    const numbers = answers.map(({ body }) => body.number).toSorted((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, index) => before + index + 1))
    const head = (await world.platform.database.queries.apps.byId(app.id))?.developmentVersionId
    expect((await rows())[0]?.id).toBe(head ?? 'none')
  })

  test('200 parallel creates under one idempotency key are one create, also after a crash', async () => {
    const answers = await together(200, async () => await upload('3.0.0', 'create-once'))
    world = await crash(world)

    const counts = tally(answers)
    expect(Object.keys(counts).filter((kind) => kind !== '201' && kind !== 'idempotency_in_progress')).toEqual([])
    const again = await upload('3.0.0', 'create-once')
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const bodies = answers.filter(({ status }) => status === 201).map(({ text }) => text)
    expect(bodies.length).toBeGreaterThan(0)
    expect(new Set([...bodies, again.text]).size).toBe(1)
    expect((await rows()).filter(({ version }) => version === '3.0.0').map(({ revision }) => revision)).toEqual([1])
  })

  test('one idempotency key over two bodies at once has one effect, and the other body is refused', async () => {
    const answers = await together(60, async (index) => await upload(`4.${index % 2}.0`, 'two-bodies'))
    const retried = await together(2, async (index) => await upload(`4.${index}.0`, 'two-bodies'))

    expect(tally(retried)).toEqual({ '201': 1, idempotency_key_reused: 1 })
    expect(tally(answers)['200']).toBeUndefined()
    expect((await rows()).filter(({ version }) => version.startsWith('4.'))).toHaveLength(1)
  })

  test('one artifact uploaded 12 times at once is stored once and whole, also after a crash', async () => {
    const bytes = Buffer.alloc(700_000, 'artifact')
    const artifact = { filename: 'app.zip', contentBase64: bytes.toString('base64') }
    const answers = await together(12, async (index) => await upload(`6.${index}.0`, undefined, { artifact }))
    world = await crash(world)

    expect(tally(answers)).toEqual({ '201': 12 })
    const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest()
    const { artifacts } = world.platform.database.queries
    const chunks: Uint8Array[] = []
    for (;;) {
      const chunk = await artifacts.chunk(sha256, chunks.length)
      if (chunk === null) break
      chunks.push(chunk.data)
    }
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
    expect((await artifacts.find(sha256))?.sizeBytes).toBe(bytes.length)
  })

  test('parallel creates beside a submission never change what was submitted', async () => {
    for (let round = 0; round < 8; round += 1) {
      const version = `5.${round}.0`
      await upload(version, undefined, { notes: 'first' })
      const move = { slug: app.slug, version, step: 'submit', rejection: null } as const
      const [submitted, ...answers] = await Promise.all([
        moveVersion(world.platform, trace, operator, move),
        ...Array.from({ length: 20 }, async (_, index) => await upload(version, undefined, { notes: `late ${index}` })),
      ])
      const kept = (await rows()).find((row) => row.version === version)

      expect(kept?.status).toBe('submitted')
      expect({ notes: kept?.notes, revision: kept?.revision }).toEqual({
        notes: submitted.notes,
        revision: submitted.revision,
      })
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(submitted.revision - 1)
    }
  })
})

describe('rollbacks', () => {
  let app: AppInWorld
  let token: string
  const names = ['1.0.0', '1.1.0', '1.2.0', '1.3.0']
  beforeAll(async () => {
    app = await addApp(world.platform, world.user)
    token = await appToken(world.server.url, app.development)
    for (const version of names) {
      await send('/versions', { version }, undefined, token)
      for (const step of ['submit', 'approve', 'activate'] as const) {
        await moveVersion(world.platform, trace, operator, { slug: app.slug, version, step, rejection: null })
      }
    }
  })
  const ledger = async (environment: string) =>
    (await world.platform.database.queries.rollbacks.listByApp(app.id))
      .filter((row) => row.environment === environment)
      .toReversed()

  test.each(['development', 'production'] as const)(
    '200 at once in %s are told by the ledger step by step, and one version is current',
    async (environment) => {
      const answers = await together(200, async (index) => {
        const target = index % 5 === 4 ? {} : { version: names[index % 4] }
        return await send('/versions/rollback', { environment, ...target }, undefined, token)
      })
      world = await crash(world)

      const told = answers.filter(({ status }) => status === 200).map(({ body }) => body.rollback)
      const kept = await ledger(environment)
      expect(told.length).toBeGreaterThan(0)
      expect(kept.map(({ id }) => id).toSorted()).toEqual(told.map((row: Json) => row.id).toSorted())
      for (const [index, row] of kept.entries()) {
        expect(row.fromVersionId).not.toBe(row.toVersionId)
        if (index > 0) expect(row.fromVersionId).toBe(kept[index - 1]?.toVersionId ?? '')
      }
      const { body } = await call(world.server.url, 'GET', '/versions', { token })
      expect(body.current[environment]).toBe(kept.at(-1)?.toVersionId)
      const statuses = body.data.map((version: Json) => version.status).toSorted()
      expect(statuses).toEqual(['active', 'superseded', 'superseded', 'superseded'])
      const expected = new Set(['200', 'no_previous_version', 'version_already_current', 'version_not_eligible'])
      expect(Object.keys(tally(answers)).filter((kind) => !expected.has(kind))).toEqual([])
    },
  )

  test('200 under one idempotency key are one rollback', async () => {
    const before = (await ledger('development')).length
    const current = (await call(world.server.url, 'GET', '/versions', { token })).body.current.development
    const other = (await call(world.server.url, 'GET', '/versions', { token })).body.data.find(
      (version: Json) => version.id !== current,
    )
    const answers = await together(
      200,
      async () => await send('/versions/rollback', { versionId: other.id }, 'roll-back-once', token),
    )
    world = await crash(world)

    expect(Object.keys(tally(answers)).filter((kind) => kind !== '200' && kind !== 'idempotency_in_progress')).toEqual(
      [],
    )
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1)
    expect(await ledger('development')).toHaveLength(before + 1)
  })

  test('and activations at once never leave two versions live', async () => {
    const fresh = ['2.0.0', '2.1.0', '2.2.0']
    for (const version of fresh) {
      await send('/versions', { version }, undefined, token)
      for (const step of ['submit', 'approve'] as const) {
        await moveVersion(world.platform, trace, operator, { slug: app.slug, version, step, rejection: null })
      }
    }
    await Promise.all([
      ...fresh.map(
        async (version) =>
          await moveVersion(world.platform, trace, operator, {
            slug: app.slug,
            version,
            step: 'activate',
            rejection: null,
          }),
      ),
      ...names.map(
        async (version) => await send('/versions/rollback', { environment: 'production', version }, undefined, token),
      ),
    ])
    const { body } = await call(world.server.url, 'GET', '/versions', { token })

    expect(body.data.filter((version: Json) => version.status === 'active')).toHaveLength(1)
    expect(body.data.filter((version: Json) => version.status === 'superseded')).toHaveLength(6)
  })
})

describe('client secrets', () => {
  test('200 parallel creates and rotations by several operators never leave three alive, and each is as it was told', async () => {
    const app = await addApp(world.platform, world.user)
    const { clientId } = app.development
    const beside = await together(3, async () => await openAsOperator(world.server.database))
    const operators = [world.platform, ...beside]
    const attempts = await together(200, async (index) => {
      const platform = operators[index % operators.length] ?? world.platform
      const made =
        index % 2 === 0
          ? createCredential(platform, trace, operator, { slug: app.slug, environment: 'development', label: null })
          : rotateCredential(platform, trace, operator, { clientId, graceHours: index % 4 === 1 ? 0 : 24 })
      return await made.then(
        (record) => ({ record, refusal: null }),
        (error: unknown) => ({
          record: null,
          refusal: error instanceof Error && 'code' in error ? error.code : 'other',
        }),
      )
    })
    await Promise.all(beside.map(async ({ database }) => await database.close()))
    world = await crash(world)

    const made = attempts.flatMap(({ record }) => (record === null ? [] : [record]))
    expect(made.length).toBeGreaterThan(0)
    expect(
      [...new Set(attempts.flatMap(({ refusal }) => refusal ?? []))].filter((code) => code !== 'unavailable'),
    ).toEqual(['too_many_secrets'])
    const listed = (await listCredentials(world.platform, app.slug)).filter((row) => row.clientId === clientId)
    const live = listed.filter(({ status }) => status === 'live').map(({ id }) => id)
    expect(live.length).toBeLessThanOrEqual(2)
    expect(live.length).toBeGreaterThan(0)
    for (const { id, clientSecret } of made) {
      const { status } = await send('/token', { clientId, clientSecret, scope: 'site:read' })
      expect(status).toBe(live.includes(id) ? 200 : 401)
    }
  })

  test('revoked while they are being used let no token live on once the revocation has answered', async () => {
    for (let round = 0; round < 10; round += 1) {
      const app = await addApp(world.platform, world.user)
      const [credential] = await listCredentials(world.platform, app.slug)
      const minting = together(20, async () => await send('/token', { ...app.development, scope: 'site:read' }))
      if (round % 2 === 1) await Bun.sleep(round)
      await revokeCredential(world.platform, trace, operator, credential?.id ?? '')
      const after = await send('/token', { ...app.development, scope: 'site:read' })
      const minted = (await minting).filter(({ status }) => status === 200)
      if (round === 9) world = await crash(world)

      expect(after.status).toBe(401)
      for (const { body } of minted) expect(await appStatus(body.accessToken)).toBe(401)
    }
  })
})

test('200 parallel sign-ins are each a session of their own, there after a crash, or told to come back', async () => {
  const answers = await together(
    200,
    async () =>
      await call(world.server.url, 'POST', '~/api/session', {
        body: { email: world.user.email, password: world.user.password },
      }),
  )
  world = await crash(world)

  const made = answers.filter(({ status }) => status === 200)
  const turnedAway = answers.filter(({ status }) => status !== 200)
  expect(made.length).toBeGreaterThan(0)
  expect(new Set(made.map(({ body }) => body.sessionToken)).size).toBe(made.length)
  const lawful = new Set(['unavailable', 'rate_limited']) // the line for hashing is full, or this address has enough in it
  expect(turnedAway.filter((answer) => !lawful.has(codeOf(answer)) || !answer.headers.has('retry-after'))).toEqual([])
  const states = await Promise.all(
    made.map(async ({ body }) => await call(world.server.url, 'GET', '~/api/session', { token: body.sessionToken })),
  )
  expect(tally(states)).toEqual({ '200': made.length })
})

test('a session that signs out while it authorizes leaves no code that was not answered before', async () => {
  for (let round = 0; round < 10; round += 1) {
    const leaving = await signIn(world.server.url, world.user)
    const codes = together(10, async () => await authorize(world.server.url, leaving, world.app))
    if (round % 2 === 1) await Bun.sleep(1)
    expect((await call(world.server.url, 'DELETE', '~/api/session', { token: leaving })).status).toBe(204)
    await codes
    expect(await authorize(world.server.url, leaving, world.app)).toBeUndefined()
  }
})

test('app tokens issued 200 at once all work, and one revoked at once with its use is dead when revoke has answered', async () => {
  const tokens = await together(200, async () => await appToken(world.server.url, world.app.development))
  const [revoked = '', ...kept] = tokens
  const uses = together(20, async () => await appStatus(revoked))
  expect((await send('/oauth/revoke', {}, undefined, revoked)).status).toBe(200)
  await uses
  expect(await appStatus(revoked)).toBe(401)
  world = await crash(world)

  expect(await appStatus(revoked)).toBe(401)
  expect(new Set(await Promise.all(kept.map(appStatus)))).toEqual(new Set([200]))
})
