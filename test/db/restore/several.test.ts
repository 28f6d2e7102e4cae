import { beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Platform } from '../../../src/operations/platform.ts'
import { restoreAt } from '../../cli/support/restore-at.ts'
import { changeAppScopes } from '../../../src/operations/apps/apps.ts'
import { revokeCredential, rotateCredential } from '../../../src/operations/credentials/credentials.ts'
import { addRedirectUri, removeRedirectUri } from '../../../src/operations/redirect-uris.ts'
import { addEndpoint, changeEndpoint, rotateWebhookSecret } from '../../../src/operations/webhooks/endpoints.ts'
import { withMovingClock } from '../../support/moving-clock.ts'
import { openAsOperator, operator, trace } from '../../support/operator.ts'
import { addApp, addUser } from '../../support/world.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { makeThings, namesInForce, type Thing } from './support/things.ts'
import { backUp, faultsIn } from '../../support/database-file.ts'

/** Things of the same age: some were ended after all backups were made, and some were not. */
type Generation = { readonly ended: readonly Thing[]; readonly left: readonly Thing[] }

const generation = async (platform: Platform): Promise<Generation> => ({
  ended: await makeThings(platform),
  left: await makeThings(platform),
})

/** A database in which much has ended since two backups were made: one before its second generation of things, one after. */
let present = ''
let older = ''
let newer = ''
let first: Generation
let second: Generation

beforeAll(async () => {
  present = join(temporaryFolder(), 'app-platform.db')
  ;[older, newer] = [join(dirname(present), 'older.db'), join(dirname(present), 'newer.db')]
  const platform = await openAsOperator(present)
  first = await generation(platform)
  backUp(present, older)
  second = await generation(platform)
  backUp(present, newer)
  for (const thing of [...first.ended, ...second.ended]) await thing.end(platform)
  await platform.database.close()
})

/** Restores these backups, one after the other, and then examines the database. */
const afterRestores = async (
  file: string,
  backups: readonly string[],
  look: (platform: Platform) => Promise<void> = async (platform) => await expectNothingRevived(platform),
): Promise<void> => {
  for (const backup of backups) await restoreAt(file, backup)
  const platform = await openAsOperator(file)
  await look(platform)
  expect(await faultsIn(file)).toEqual([])
  await platform.database.close()
}

const copyOf = (file: string): string => {
  const copy = join(temporaryFolder(), 'app-platform.db')
  mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
  copyFileSync(file, copy)
  return copy
}

const namesOf = (things: readonly Thing[]) => things.map(({ name }) => name)

/** `unknown` is what the release that wrote the database did not have. */
const expectNothingRevived = async (platform: Platform, unknown: readonly string[] = []): Promise<void> => {
  const known = (things: readonly Thing[]) => things.filter(({ name }) => !unknown.includes(name))
  for (const { ended, left } of [first, second]) {
    expect(await namesInForce(platform, known(ended))).toEqual([])
    expect(await namesInForce(platform, known(left))).toEqual(namesOf(known(left)))
  }
}

test('everything is in force in the backup that has it', async () => {
  await afterRestores(join(temporaryFolder(), 'app-platform.db'), [newer], async (platform) => {
    for (const { ended } of [first, second]) expect(await namesInForce(platform, ended)).toEqual(namesOf(ended))
  })
})

test('the older backup and then the newer one revive nothing, and end nothing that was not ended', async () => {
  await afterRestores(copyOf(present), [older, newer])
})

test('the newer backup, the older and the newer again revive nothing', async () => {
  await afterRestores(copyOf(present), [newer, older, newer])
})

test('the older backup twice and then the newer one twice revive nothing', async () => {
  await afterRestores(copyOf(present), [older, older, newer, newer])
})

test('an end that was kept for things that a backup lacks is removed when they are in the database', async () => {
  const file = copyOf(present)
  const kept: number[] = []
  for (const backup of [older, newer, older, newer]) kept.push((await restoreAt(file, backup)).kept)
  const [known = 0] = kept
  expect(known).toBeGreaterThanOrEqual(second.ended.length)
  // A purged app is a row again after a backup that has it was restored, and a row records more ends.
  expect(kept).toEqual([known, 0, expect.any(Number), 0])
  expect(kept[2]).toBeGreaterThanOrEqual(known)
})

test('a restore that is killed at any step loses none of the kept ends', async () => {
  const file = copyOf(present)
  await restoreAt(file, older)
  const script = join(import.meta.dir, '../../cli/support/restore-until.ts')
  for (const step of ['end', 'set aside', 'replace', 'done']) {
    const child = Bun.spawn([process.execPath, script, file, newer, step], { stdout: 'ignore', stderr: 'inherit' })
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    if (step === 'done') await restoreAt(file, older)
  }
  await afterRestores(file, [newer])
})

test('things that were made and ended after a restore stay ended when a backup of that time is restored', async () => {
  const file = copyOf(present)
  const backup = join(dirname(file), 'between.db')
  let third: Generation = { ended: [], left: [] }
  await afterRestores(file, [older], async (platform) => {
    third = await generation(platform)
    backUp(file, backup)
    for (const thing of third.ended) await thing.end(platform)
  })
  await afterRestores(file, [newer])
  await afterRestores(file, [backup], async (platform) => {
    expect(await namesInForce(platform, third.ended)).toEqual([])
    expect(await namesInForce(platform, third.left)).toEqual(namesOf(third.left))
  })
  await afterRestores(file, [newer])
})

test('things that had ended in an older backup are in force with a newer one in which they had begun again', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const platform = await openAsOperator(file)
  const things = (await makeThings(platform)).filter(({ begin }) => begin !== undefined)
  for (const thing of things) await thing.end(platform)
  const [closed, open] = [join(dirname(file), 'closed.db'), join(dirname(file), 'open.db')]
  backUp(file, closed)
  for (const thing of things) await thing.begin?.(platform)
  backUp(file, open)
  await platform.database.close()
  for (const place of [file, join(temporaryFolder(), 'another.db')]) {
    await afterRestores(place, [closed, open], async (after) => {
      expect(await namesInForce(after, things)).toEqual(namesOf(things))
    })
  }
})

test('a withdrawn scope stays withdrawn, and a scope that was added since is not granted', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const platform = await openAsOperator(file)
  const scopesAt = async ({ database }: Platform) => (await database.queries.apps.byId(app.id))?.scopes
  const app = await addApp(platform, await addUser(platform), 'profile:read site:read store:read')
  const backup = join(dirname(file), 'copy.db')
  backUp(file, backup)
  const scopes = 'profile:read profile.email:read store:read'
  await changeAppScopes(platform, trace, operator, { slug: app.slug, scopes })
  await platform.database.close()
  await afterRestores(file, [backup], async (after) => {
    expect(await scopesAt(after)).toBe('profile:read store:read')
  })
})

test('a redirect URI that was removed and registered again stays registered', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const platform = await openAsOperator(file)
  const app = await addApp(platform, await addUser(platform))
  const backup = join(dirname(file), 'copy.db')
  backUp(file, backup)
  const uri = { slug: app.slug, environment: 'development', uri: app.redirectUri } as const
  await removeRedirectUri(platform, trace, operator, uri)
  await addRedirectUri(platform, trace, operator, uri)
  await platform.database.close()
  await afterRestores(file, [backup], async ({ database }) => {
    const { clientId } = app.development
    expect(await database.queries.redirectUris.isRegistered(clientId, app.redirectUri)).toBe(true)
  })
})

test('of two grace periods of a secret the one that ends sooner counts', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const platform = await openAsOperator(file)
  const app = await addApp(platform, await addUser(platform))
  const { clientId } = app.production
  const where = { slug: app.slug, environment: 'production', url: 'https://93.184.216.34/' } as const
  const { id } = await addEndpoint(platform, trace, operator, { ...where, kinds: ['credential.created'] })
  const rotate = async (at: Platform, graceHours: number) => {
    await rotateCredential(at, trace, operator, { clientId, graceHours })
    await rotateWebhookSecret(at, trace, operator, { id, graceHours })
  }
  const endsAt = async ({ database: { queries }, clock }: Platform) => [
    (await queries.credentials.listByClient(clientId))[0]?.expiresAt,
    (await queries.webhookEndpoints.liveSecrets(id, clock.now())).at(-1)?.expiresAt,
  ]
  const [plain, sooner] = [join(dirname(file), 'plain.db'), join(dirname(file), 'sooner.db')]
  backUp(file, plain)
  await rotate(platform, 1)
  const soon = await endsAt(platform)
  backUp(file, sooner)
  await platform.database.close()
  const elsewhere = join(temporaryFolder(), 'app-platform.db')
  await afterRestores(elsewhere, [plain], async (other) => await rotate(other, 100))
  await afterRestores(elsewhere, [sooner], async (after) => expect(await endsAt(after)).toEqual(soon))
})

test('a secret that a backup knows to be revoked is not given its grace period again by a predecessor that knows less', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const backup = (name: string) => join(dirname(file), name)
  const platform = await openAsOperator(file)
  const user = await addUser(platform)
  backUp(file, backup('without.db'))
  const { clientId } = (await addApp(platform, user)).production
  const secretOf = async ({ database: { queries } }: Platform) => (await queries.credentials.listByClient(clientId))[0]
  const { id = '' } = (await secretOf(platform)) ?? {}
  backUp(file, backup('before.db'))
  await rotateCredential(platform, trace, operator, { clientId, graceHours: 100 })
  backUp(file, backup('rotated.db'))
  await revokeCredential(platform, trace, operator, id)
  await platform.database.close()
  await afterRestores(file, [backup('without.db')], async () => backUp(file, backup('knows.db')))
  const names = ['rotated.db', 'knows.db', 'before.db']
  const elsewhere = join(temporaryFolder(), 'app-platform.db')
  await afterRestores(elsewhere, names.map(backup), async (after) => {
    expect((await secretOf(after))?.revokedAt).toBeNumber()
  })
})

test('a webhook secret that was rotated stays ended, also if the clock moves on while the operations run', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const opened = await openAsOperator(file)
  const platform = withMovingClock(opened)
  const app = await addApp(platform, await addUser(platform))
  const where = { slug: app.slug, environment: 'production', url: 'https://93.184.216.34/' } as const
  const { id } = await addEndpoint(platform, trace, operator, { ...where, kinds: ['credential.created'] })
  await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 0 })
  const backup = join(dirname(file), 'copy.db')
  backUp(file, backup)
  await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 0 })
  await opened.database.close()
  await afterRestores(file, [backup], async ({ database, clock }) => {
    expect(await database.queries.webhookEndpoints.liveSecrets(id, clock.now() + 1_000)).toEqual([])
  })
})

test('an endpoint that has moved since the backup is disabled, so that nothing goes to its old address', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const platform = await openAsOperator(file)
  const app = await addApp(platform, await addUser(platform))
  const [old, now] = ['https://93.184.216.34/old', 'https://93.184.216.34/new']
  const where = { slug: app.slug, environment: 'production', kinds: ['ping'] } as const
  const { id } = await addEndpoint(platform, trace, operator, { ...where, url: old })
  const { id: leftId } = await addEndpoint(platform, trace, operator, { ...where, url: old })
  const backup = join(dirname(file), 'copy.db')
  backUp(file, backup)
  await changeEndpoint(platform, trace, operator, { id, url: now, kinds: ['ping'] })
  await changeEndpoint(platform, trace, operator, { id: leftId, url: old, kinds: ['credential.created'] })
  await platform.database.close()
  await afterRestores(file, [backup], async ({ database }) => {
    const restored = async (one: string) => (await database.queries.webhookEndpoints.find(one))?.endpoint
    expect(await restored(id)).toMatchObject({ url: old, status: 'disabled', reason: 'by_hand' })
    expect(await restored(leftId)).toMatchObject({ url: old, status: 'enabled' })
  })
})

test('that a restore could not read its predecessor is reported until a later backup is restored', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const told = []
  for (const backup of [older, newer, older]) told.push((await restoreAt(file, backup)).unread)
  const platform = await openAsOperator(file)
  const later = join(dirname(file), 'later.db')
  backUp(file, later)
  await platform.database.close()
  for (const backup of [later, newer]) told.push((await restoreAt(file, backup)).unread)
  expect(told).toEqual([0, 1, 1, 0, 1])
})
