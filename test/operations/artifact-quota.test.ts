import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { artifactUse, keepingIfUsed, storeArtifact } from '../../src/operations/artifacts/artifacts.ts'
import { readHealth } from '../../src/operations/health/health.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { countRows } from '../support/expired-rows.ts'
import { openAsOperator } from '../support/operator.ts'
import { receivedArtifact } from '../support/received-artifact.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { moveThrough, uploadVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld } from '../support/world.ts'
import { refusalOf } from './support/owner.ts'

let file: string
let platform: Platform
let app: AppInWorld
beforeEach(async () => {
  file = join(temporaryFolder(), 'quota.db')
  platform = withQuota(await openAsOperator(file), 1_000)
  app = await addApp(platform, await addUser(platform))
})
afterEach(async () => await platform.database.close())

const withQuota = (of: Platform, artifactBytes: number): Platform => ({
  ...of,
  quotas: { ...of.quotas, artifactBytes },
})
const upload = async (version: string, bytes: Uint8Array | null, of = app, by = platform) => {
  const artifact = bytes && { filename: 'app.zip', content: receivedArtifact(bytes), sha256: null }
  return await refusalOf(uploadVersion(by, of, { version, artifact }))
}
const rows = async () => await countRows(file, 'artifacts', 'artifact_chunks')
const used = async (of = app) => (await artifactUse(platform, of.id)).bytes

describe('the artifacts of an app', () => {
  test('take at most the quota, to the byte, and each app has its own quota', async () => {
    expect(await upload('1.0.0', randomBytes(600))).toBe('done')
    expect(await upload('2.0.0', randomBytes(401))).toBe('quota_exceeded')
    expect(await upload('2.0.0', randomBytes(400))).toBe('done')
    expect(await upload('3.0.0', randomBytes(1))).toBe('quota_exceeded')
    expect(await upload('3.0.0', null)).toBe('done')
    expect(await upload('1.0.0', randomBytes(1_000), await addApp(platform, await addUser(platform)))).toBe('done')
    expect(await used()).toBe(1_000)
  })

  test('count once each, even if many versions use them', async () => {
    const bytes = randomBytes(600)
    for (const version of ['1.0.0', '2.0.0', '3.0.0']) expect(await upload(version, bytes)).toBe('done')
    expect(await used()).toBe(600)
  })

  test('no longer count when their draft is replaced, but do when their version was submitted', async () => {
    expect(await upload('1.0.0', randomBytes(600))).toBe('done')
    expect(await upload('1.0.0', randomBytes(900))).toBe('done')
    expect(await used()).toBe(900)
    await moveThrough(platform, app, '1.0.0', 'submit')
    expect(await upload('1.0.0', randomBytes(10))).toBe('version_locked')
    expect(await upload('2.0.0', randomBytes(101))).toBe('quota_exceeded')
  })

  test('are all that is stored: replaced files and those of refused uploads go at once, also in a race', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect(await upload('1.0.0', randomBytes(900))).toBe('done')
      expect(await rows()).toEqual({ artifacts: 1, artifact_chunks: 1 })
    }
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => await upload(`2.${index}.0`, randomBytes(60))),
    )
    expect(outcomes.toSorted()).toEqual(['done', ...Array.from({ length: 9 }, () => 'quota_exceeded')])
    expect(await rows()).toEqual({ artifacts: 2, artifact_chunks: 2 })
    expect(await used()).toBe(960)
  })

  test('may shrink while they exceed a quota that was lowered', async () => {
    const bytes = randomBytes(800)
    expect(await upload('1.0.0', bytes)).toBe('done')
    const narrow = withQuota(platform, 500)
    expect(await upload('2.0.0', bytes, app, narrow)).toBe('done')
    expect(await upload('3.0.0', randomBytes(1), app, narrow)).toBe('quota_exceeded')
    expect(await upload('2.0.0', null, app, narrow)).toBe('done')
    expect(await upload('1.0.0', randomBytes(700), app, narrow)).toBe('done')
    expect(await upload('1.0.0', randomBytes(701), app, narrow)).toBe('quota_exceeded')
  })

  test('stay within the quota when many uploads arrive at once', async () => {
    const uploads = Array.from({ length: 20 }, async (_, number) => await upload(`1.0.${number}`, randomBytes(300)))
    expect((await Promise.all(uploads)).filter((outcome) => outcome === 'done')).toHaveLength(3)
    expect(await used()).toBe(900)
  })
})

test('the file of an upload that is refused is not stored', async () => {
  expect(await upload('1.0.0', randomBytes(600))).toBe('done')
  await moveThrough(platform, app, '1.0.0', 'submit')
  const before = await rows()
  expect(await upload('2.0.0', randomBytes(600))).toBe('quota_exceeded')
  expect(await upload('1.0.0', randomBytes(10))).toBe('version_locked')
  expect(await rows()).toEqual(before)
})

test('an upload that is refused removes no file that another upload has stored since', async () => {
  const artifact = receivedArtifact(randomBytes(100))
  const refused = keepingIfUsed(platform, async (store) => {
    await store(artifact)
    const later = { ...platform, clock: { ...platform.clock, now: () => platform.clock.now() + 1 } }
    await storeArtifact(later, artifact)
    throw new Error('refused')
  })
  await expect(refused).rejects.toThrow('refused')
  expect(await rows()).toEqual({ artifacts: 1, artifact_chunks: 1 })
})

test('health reports how much space all artifacts take and how much one app may use', async () => {
  const shared = randomBytes(500)
  for (const of of [app, await addApp(platform, await addUser(platform))]) await upload('1.0.0', shared, of)
  await upload('2.0.0', randomBytes(40))
  const { artifacts } = await readHealth(platform)
  expect(artifacts).toEqual({ files: 2, bytes: 540, allowedBytesPerApp: 1_000 })
})
