import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import type { Platform } from '../../../src/operations/platform.ts'
import { previewRollback } from '../../../src/operations/versions/move-version.ts'
import { restoreAt } from '../../cli/support/restore-at.ts'
import { openAsOperator } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { moveThrough, submitVersion } from '../../support/version.ts'
import { addApp, addUser, type AppInWorld } from '../../support/world.ts'
import { goLive, liveVersion, rollBack } from './support/live-version.ts'
import { backUp, faultsIn } from '../../support/database-file.ts'

type Place = {
  readonly file: string
  readonly app: AppInWorld
  readonly platform: Platform
  readonly keepAs: (name: string) => string
}

/** An app with these versions, each of which was live, in a database that may be backed up. */
const placeWith = async (...versions: readonly string[]): Promise<Place> => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const platform = await openAsOperator(file)
  const app = await addApp(platform, await addUser(platform))
  for (const version of versions) await goLive(platform, app, version)
  const keepAs = (name: string) => {
    const backup = join(dirname(file), name)
    backUp(file, backup)
    return backup
  }
  return { file, app, platform, keepAs }
}

/** What was live, one after the other. */
const wasLive = async ({ database }: Platform, { id }: AppInWorld) =>
  (await database.queries.liveChanges.pageOfApp(id, Number.MAX_SAFE_INTEGER, 100))
    .map(({ version }) => version)
    .toReversed()

/** The live version after each of these restores, and how many versions the restore ended. */
const afterRestores = async ({ file, app, platform }: Place, ...backups: readonly string[]) => {
  await platform.database.close()
  const live: (readonly [string | null, number | undefined])[] = []
  for (const backup of backups) {
    const { carriedOver } = await restoreAt(file, backup)
    const restored = await openAsOperator(file)
    live.push([await liveVersion(restored, app), carriedOver?.versions])
    expect((await wasLive(restored, app)).at(-1) ?? null).toBe(await liveVersion(restored, app))
    const { apps, versions } = restored.database.queries
    expect((await apps.byId(app.id))?.description).toBe((await versions.active(app.id))?.description ?? null)
    expect(await faultsIn(file)).toEqual([])
    await restored.database.close()
  }
  return live
}

test('a version that was rolled back since the backup stays out of use, and the rollback is in the ledger', async () => {
  const place = await placeWith('1.0.0', '2.0.0')
  const { app, platform } = place
  const backup = place.keepAs('copy.db')
  await rollBack(platform, app, '1.0.0')
  const ledger = await platform.database.queries.rollbacks.pageOfApp(app.id, '~', 10)
  expect(await afterRestores(place, backup, backup)).toEqual([
    ['1.0.0', 1],
    ['1.0.0', 1],
  ])
  const restored = await openAsOperator(place.file)
  expect(await restored.database.queries.rollbacks.pageOfApp(app.id, '~', 10)).toEqual(ledger)
  await restored.database.close()
})

test('the last of several rollbacks of an app decides which version is live', async () => {
  const place = await placeWith('1.0.0', '2.0.0', '3.0.0')
  const { app, platform } = place
  const other = await addApp(platform, await addUser(platform))
  for (const version of ['1.0.0', '2.0.0']) await goLive(platform, other, version)
  const backup = place.keepAs('copy.db')
  for (const version of ['2.0.0', '1.0.0']) await rollBack(platform, app, version)
  await rollBack(platform, other, '1.0.0')
  expect(await afterRestores(place, backup)).toEqual([['1.0.0', 2]])
})

test('the last rollback is the last one in the ledger, even if the clock was set back', async () => {
  const place = await placeWith('1.0.0', '2.0.0', '3.0.0')
  const { app, platform } = place
  const backup = place.keepAs('copy.db')
  const at = platform.clock.now()
  const asOf = (moment: number): Platform => ({ ...platform, clock: { ...platform.clock, now: () => moment } })
  await rollBack(asOf(at + 1_000), app, '2.0.0') // the machine's clock was ahead and was corrected
  await rollBack(asOf(at), app, '1.0.0')
  expect(await afterRestores(place, backup)).toEqual([['1.0.0', 1]])
})

test('a rolled-back version that went live again stays live', async () => {
  const place = await placeWith('1.0.0', '2.0.0')
  const { app, platform } = place
  const backup = place.keepAs('copy.db')
  for (const version of ['1.0.0', '2.0.0']) await rollBack(platform, app, version)
  expect(await afterRestores(place, backup)).toEqual([['2.0.0', 0]])
})

test('after a restore, a rollback proposes no version that was rolled back since the backup', async () => {
  const place = await placeWith('1.0.0', '2.0.0', '3.0.0')
  const { app, file, platform } = place
  const backup = place.keepAs('copy.db')
  for (const version of ['1.0.0', '3.0.0']) await rollBack(platform, app, version)
  expect(await afterRestores(place, backup)).toEqual([['3.0.0', 0]])
  const restored = await openAsOperator(file)
  expect(await wasLive(restored, app)).toEqual(['1.0.0', '2.0.0', '3.0.0', '1.0.0', '3.0.0'])
  const { to } = await previewRollback(restored, app.id, { environment: 'production', target: null })
  expect(to.version).toBe('1.0.0')
  await restored.database.close()
})

test('a version that was replaced without a rollback is live again', async () => {
  const place = await placeWith('1.0.0', '2.0.0')
  const backup = place.keepAs('copy.db')
  await goLive(place.platform, place.app, '3.0.0')
  expect(await afterRestores(place, backup)).toEqual([['2.0.0', 0]])
})

test('if the backup lacks the version that a rollback went back to, the version that is live in it stays, or none is', async () => {
  const place = await placeWith()
  const { app, platform } = place
  await submitVersion(platform, app, { version: '1.0.0' })
  await submitVersion(platform, app, { version: '2.0.0' })
  const nothing = place.keepAs('nothing.db')
  await moveThrough(platform, app, '1.0.0', 'approve', 'activate')
  const first = place.keepAs('first.db')
  await moveThrough(platform, app, '2.0.0', 'approve', 'activate')
  for (const version of ['1.0.0', '2.0.0']) await rollBack(platform, app, version)
  expect(await afterRestores(place, nothing, first)).toEqual([
    [null, 0],
    ['1.0.0', 0],
  ])
})

test('a version that was never live in the backup keeps its status in the backup', async () => {
  const place = await placeWith('1.0.0', '2.0.0')
  const { app, platform } = place
  const { id } = await submitVersion(platform, app, { version: '3.0.0' })
  const backup = place.keepAs('copy.db')
  await moveThrough(platform, app, '3.0.0', 'approve', 'activate')
  await rollBack(platform, app, '1.0.0')
  expect(await afterRestores(place, backup)).toEqual([['2.0.0', 0]])
  const restored = await openAsOperator(place.file)
  expect((await restored.database.queries.versions.byId(app.id, id))?.status).toBe('submitted')
  await restored.database.close()
})

test('a version that went live again after a restore is not ended by an earlier rollback', async () => {
  const place = await placeWith('1.0.0')
  const { app, file, platform } = place
  await submitVersion(platform, app, { version: '2.0.0' })
  await moveThrough(platform, app, '2.0.0', 'approve')
  const approved = place.keepAs('approved.db')
  await moveThrough(platform, app, '2.0.0', 'activate')
  const live = place.keepAs('live.db')
  await rollBack(platform, app, '1.0.0')
  await afterRestores(place, approved)
  const restored = await openAsOperator(file)
  await moveThrough(restored, app, '2.0.0', 'activate')
  const again = join(dirname(file), 'again.db')
  backUp(file, again)
  expect(await afterRestores({ ...place, platform: restored }, live, again)).toEqual([
    ['2.0.0', 0],
    ['2.0.0', 0],
  ])
})

test('restoring a backup from before the version went live does not lose its rollback for a newer backup', async () => {
  const place = await placeWith('1.0.0')
  const { app, platform } = place
  const unknown = place.keepAs('unknown.db')
  await submitVersion(platform, app, { version: '2.0.0' })
  await moveThrough(platform, app, '2.0.0', 'approve')
  const approved = place.keepAs('approved.db')
  await moveThrough(platform, app, '2.0.0', 'activate')
  const live = place.keepAs('live.db')
  await rollBack(platform, app, '1.0.0')
  expect(await afterRestores(place, unknown, approved, live, approved, live)).toEqual([
    ['1.0.0', 0],
    ['1.0.0', 0],
    ['1.0.0', 1],
    ['1.0.0', 0],
    ['1.0.0', 1],
  ])
})

test('a version that was rolled back only in development stays live', async () => {
  const place = await placeWith('1.0.0', '2.0.0')
  const { app, platform } = place
  await rollBack(platform, app, '1.0.0')
  await goLive(platform, app, '3.0.0')
  await rollBack(platform, app, '1.0.0', 'development')
  const backup = place.keepAs('copy.db')
  for (const version of ['3.0.0', '1.0.0']) await rollBack(platform, app, version, 'development')
  await goLive(platform, app, '4.0.0')
  expect(await afterRestores(place, backup)).toEqual([['3.0.0', 0]])
})
