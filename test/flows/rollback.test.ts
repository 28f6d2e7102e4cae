import { describe, expect, test } from 'bun:test'
import { letSecretsRollBack } from '../../src/operations/apps/apps.ts'
import { moveVersion, rollBackOwnVersion } from '../../src/operations/versions/move-version.ts'
import { auditEvents } from '../support/audit-events.ts'
import { askBeside } from '../support/beside.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, type AppInWorld, appToken } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server

/** An app with the given versions; `live` ones were activated one after the other. */
type Shelf = { readonly app: AppInWorld; readonly token: string; readonly ids: Readonly<Record<string, string>> }
const shelf = async (versions: readonly string[], live: readonly string[] = []): Promise<Shelf> => {
  const app = await addApp(world.platform, world.user)
  const token = await appToken(url, app.development)
  const ids: Record<string, string> = {}
  for (const version of versions) {
    ids[version] = (await call(url, 'POST', '/versions', { token, body: { version } })).body.id
    if (!live.includes(version)) continue
    for (const step of ['submit', 'approve', 'activate'] as const) {
      await moveVersion(world.platform, trace, operator, { slug: app.slug, version, step, rejection: null })
    }
  }
  return { app, token, ids }
}
const rollBack = async ({ token }: Shelf, body: object) =>
  await call(url, 'POST', '/versions/rollback', { token, body })
const stateOf = async ({ token }: Shelf) => (await call(url, 'GET', '/versions', { token })).body
const ledgerOf = async ({ app }: Shelf) =>
  await askBeside(
    world.server.database,
    'SELECT environment, from_version_id, to_version_id, reason FROM rollbacks WHERE app_id = ? ORDER BY id',
    app.id,
  )
const time = expect.stringMatching(/^\d{4}-.*Z$/)

describe('a rollback in development', () => {
  test('moves the head to the next lower number and returns the whole record', async () => {
    const shop = await shelf(['1.0.0', '2.0.0', '3.0.0'])
    const before = await stateOf(shop)
    const { status, body } = await rollBack(shop, { reason: 'broken' })
    expect(status).toBe(200)
    expect(body).toEqual({
      rollback: {
        id: expect.stringMatching(/^rbk_[0-9a-f]{32}$/),
        environment: 'development',
        fromVersionId: shop.ids['3.0.0'],
        toVersionId: shop.ids['2.0.0'],
        reason: 'broken',
        by: { credentialId: expect.stringMatching(/^crd_[0-9a-f]{32}$/), label: null },
        dryRun: false,
        createdAt: time,
      },
      version: { ...before.data[1], current: { development: true, production: false } },
      distributionChanged: false,
    })
    const after = await stateOf(shop)
    expect(after.current).toEqual({ development: shop.ids['2.0.0'], production: null })
    expect(after.data.map(({ status: kept }: { status: string }) => kept)).toEqual(['draft', 'draft', 'draft'])
  })

  test('goes to any version by ID or name, up or down, in any status', async () => {
    const shop = await shelf(['1.0.0', '2.0.0', '3.0.0'], ['1.0.0'])
    expect((await rollBack(shop, { version: '1.0.0' })).body.version).toMatchObject({
      version: '1.0.0',
      status: 'active',
    })
    expect((await rollBack(shop, { versionId: shop.ids['3.0.0'] })).body.rollback.fromVersionId).toBe(shop.ids['1.0.0'])
    expect((await stateOf(shop)).current).toEqual({ development: shop.ids['3.0.0'], production: shop.ids['1.0.0'] })
  })

  test('ends at the first version', async () => {
    const shop = await shelf(['1.0.0', '2.0.0'])
    expect((await rollBack(shop, {})).status).toBe(200)
    expectRefusal(await rollBack(shop, {}), 'no_previous_version')
    expectRefusal(await rollBack(await shelf([]), {}), 'no_previous_version')
    expectRefusal(await rollBack(await shelf([]), { dryRun: true }), 'no_previous_version')
  })

  test('is refused for the current version', async () => {
    const shop = await shelf(['1.0.0', '2.0.0'])
    expectRefusal(await rollBack(shop, { version: '2.0.0' }), 'version_already_current')
    expectRefusal(await rollBack(shop, { versionId: shop.ids['2.0.0'], dryRun: true }), 'version_already_current')
    expect(await ledgerOf(shop)).toEqual([])
  })

  test('is refused for an unknown version', async () => {
    const shop = await shelf(['1.0.0', '2.0.0'])
    for (const body of [
      { version: '9.9.9' },
      { version: 'x' },
      { versionId: `ver_${'0'.repeat(32)}` },
      { versionId: 'x' },
    ]) {
      expectRefusal(await rollBack(shop, body), 'version_not_found')
      expectRefusal(await rollBack(shop, { ...body, environment: 'production' }), 'version_not_found')
    }
  })

  test('has one target', async () => {
    const shop = await shelf(['1.0.0', '2.0.0'])
    expectRefusal(
      await rollBack(shop, { version: '1.0.0', versionId: shop.ids['1.0.0'] }),
      'invalid_request',
      'version',
    )
  })

  test('has a reason of at most 1000 characters', async () => {
    const shop = await shelf(['1.0.0', '2.0.0'])
    expectRefusal(await rollBack(shop, { reason: 'x'.repeat(1001) }), 'invalid_request', 'reason')
    expect((await rollBack(shop, { reason: 'x'.repeat(1000) })).status).toBe(200)
  })
})

describe('a rollback in production', () => {
  const all = ['1.0.0', '2.0.0', '3.0.0', '4.0.0'] as const
  const live = ['1.0.0', '2.0.0', '4.0.0'] as const

  test('goes back to what was live before, never to a version that was withdrawn', async () => {
    const shop = await shelf(['1.0.0', '1.1.0'], ['1.0.0', '1.1.0'])
    const production = { environment: 'production' } as const
    const goLive = async (version: string) => {
      await call(url, 'POST', '/versions', { token: shop.token, body: { version } })
      for (const step of ['submit', 'approve', 'activate'] as const)
        await moveVersion(world.platform, trace, operator, { slug: shop.app.slug, version, step, rejection: null })
    }
    expect((await rollBack(shop, production)).body.version.version).toBe('1.0.0')
    expectRefusal(await rollBack(shop, { ...production, dryRun: true }), 'no_previous_version')
    expectRefusal(await rollBack(shop, production), 'no_previous_version')
    await goLive('1.2.0')
    expect((await rollBack(shop, { ...production, dryRun: true })).body.version.version).toBe('1.0.0')
    expect((await rollBack(shop, { ...production, version: '1.1.0' })).body.version.version).toBe('1.1.0')
    for (const below of ['1.2.0', '1.0.0']) expect((await rollBack(shop, production)).body.version.version).toBe(below)
    expectRefusal(await rollBack(shop, production), 'no_previous_version')
  })

  test('activates the version that was live before and supersedes the live one', async () => {
    const shop = await shelf(all, live)
    const { body } = await rollBack(shop, { environment: 'production' })
    expect(body).toMatchObject({
      rollback: {
        environment: 'production',
        fromVersionId: shop.ids['4.0.0'],
        toVersionId: shop.ids['2.0.0'],
        dryRun: false,
      },
      version: { version: '2.0.0', status: 'active', current: { development: false, production: true } },
      distributionChanged: true,
    })
    const { data, current } = await stateOf(shop)
    expect(data.map(({ status }: { status: string }) => status)).toEqual([
      'superseded',
      'draft',
      'active',
      'superseded',
    ])
    expect(current).toEqual({ development: shop.ids['4.0.0'], production: shop.ids['2.0.0'] })
  })

  test('goes forward again by name, and ends at the first', async () => {
    const shop = await shelf(all, live)
    await rollBack(shop, { environment: 'production' })
    await rollBack(shop, { environment: 'production' })
    expectRefusal(await rollBack(shop, { environment: 'production' }), 'no_previous_version')
    expect((await rollBack(shop, { environment: 'production', version: '4.0.0' })).body.distributionChanged).toBe(true)
    expect((await stateOf(shop)).current.production).toBe(shop.ids['4.0.0'])
  })

  test('accepts only a version that was live before', async () => {
    const shop = await shelf(all, live)
    const answer = await rollBack(shop, { environment: 'production', version: '3.0.0' })
    expectRefusal(answer, 'version_not_eligible')
    expect(answer.body.error.details).toEqual({ status: 'draft' })
    for (const [step, status] of [
      ['submit', 'submitted'],
      ['approve', 'approved'],
    ] as const) {
      await moveVersion(world.platform, trace, operator, {
        slug: shop.app.slug,
        version: '3.0.0',
        step,
        rejection: null,
      })
      for (const dryRun of [true, false]) {
        const refused = await rollBack(shop, { environment: 'production', version: '3.0.0', dryRun })
        expectRefusal(refused, 'version_not_eligible')
        expect(refused.body.error.details).toEqual({ status })
      }
    }
    expectRefusal(await rollBack(shop, { environment: 'production', version: '4.0.0' }), 'version_already_current')
    expect((await stateOf(shop)).current.production).toBe(shop.ids['4.0.0'])
    expect(await ledgerOf(shop)).toEqual([])
  })

  test('needs a live version', async () => {
    expectRefusal(await rollBack(await shelf(['1.0.0', '2.0.0']), { environment: 'production' }), 'no_previous_version')
    expectRefusal(
      await rollBack(await shelf(['1.0.0', '2.0.0']), { environment: 'production', version: '1.0.0' }),
      'version_not_eligible',
    )
    expectRefusal(
      await rollBack(await shelf(['1.0.0'], ['1.0.0']), { environment: 'production' }),
      'no_previous_version',
    )
  })
})

describe('a dry run', () => {
  for (const environment of ['development', 'production'] as const) {
    test(`in ${environment} tells what would be and changes nothing`, async () => {
      const shop = await shelf(['1.0.0', '2.0.0'], ['1.0.0', '2.0.0'])
      const before = await stateOf(shop)
      const { status, body } = await rollBack(shop, { environment, dryRun: true, reason: 'trying' })
      expect(status).toBe(200)
      expect(body.rollback).toEqual({
        id: null,
        environment,
        fromVersionId: shop.ids['2.0.0'],
        toVersionId: shop.ids['1.0.0'],
        reason: 'trying',
        by: { credentialId: expect.stringMatching(/^crd_/), label: null },
        dryRun: true,
        createdAt: time,
      })
      expect(body.distributionChanged).toBe(environment === 'production')
      expect(body.version).toEqual(before.data[1])
      expect(await stateOf(shop)).toEqual(before)
      expect(await ledgerOf(shop)).toEqual([])
    })
  }
})

test('every rollback is a row of the ledger', async () => {
  const shop = await shelf(['1.0.0', '2.0.0'], ['1.0.0', '2.0.0'])
  await rollBack(shop, { reason: 'one' })
  await rollBack(shop, { version: '2.0.0' })
  await rollBack(shop, { environment: 'production', reason: 'three' })
  const [low, high] = [shop.ids['1.0.0'], shop.ids['2.0.0']]
  expect(await ledgerOf(shop)).toEqual([
    { environment: 'development', from_version_id: high, to_version_id: low, reason: 'one' },
    { environment: 'development', from_version_id: low, to_version_id: high, reason: null },
    { environment: 'production', from_version_id: high, to_version_id: low, reason: 'three' },
  ])
})

const set = async ({ app }: Shelf, areAllowed: boolean) =>
  await letSecretsRollBack(world.platform, trace, operator, { slug: app.slug, areAllowed })

describe('a rollback in production that owners do not leave to development secrets', () => {
  test('is refused, also as a dry run, and changes nothing; development and the console go on', async () => {
    const shop = await shelf(['1.0.0', '2.0.0'], ['1.0.0', '2.0.0'])
    await set(shop, false)
    const before = await stateOf(shop)
    for (const body of [{}, { dryRun: true }, { version: '1.0.0' }, { version: 'nowhere' }]) {
      expectRefusal(await rollBack(shop, { environment: 'production', ...body }), 'rollback_not_allowed')
    }
    expect(await stateOf(shop)).toEqual(before)
    expect((await rollBack(shop, {})).status).toBe(200)
    const seen = { fromId: shop.ids['2.0.0'] ?? '', toId: shop.ids['1.0.0'] ?? '' }
    const asked = { slug: shop.app.slug, environment: 'production', reason: null, seen } as const
    expect((await rollBackOwnVersion(world.platform, trace, operator, asked)).version).toBe('1.0.0')
  })

  test('works again once they allow it, and each change of the rule is in the audit', async () => {
    const shop = await shelf(['1.0.0', '2.0.0'], ['1.0.0', '2.0.0'])
    for (const areAllowed of [false, false, true, true]) await set(shop, areAllowed)
    expect((await rollBack(shop, { environment: 'production' })).body.version.version).toBe('1.0.0')
    const events = (await auditEvents(world.platform, shop.app)).filter(({ action }) => action.startsWith('app.roll'))
    expect(events.map(({ action }) => action)).toEqual(['app.rollback_refused', 'app.rollback_allowed'])
  })
})
