import { faultsIn } from '../support/database-file.ts'
import { askBeside } from '../support/beside.ts'
import { receivedArtifact } from '../support/received-artifact.ts'
import { createHash, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { ArtifactDamaged, openArtifact, storeArtifact } from '../../src/operations/artifacts/artifacts.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import { createVersion } from '../../src/operations/versions/create-version.ts'
import { countRows } from '../support/expired-rows.ts'
import { openAsOperator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { moveThrough, uploadVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld } from '../support/world.ts'
import { developmentCaller, refusalOf } from './support/owner.ts'

const hour = 3_600_000
const chunk = 256 * 1024

let file: string
let platform: Platform
let app: AppInWorld
beforeEach(async () => {
  file = join(temporaryFolder(), 'artifacts.db')
  platform = await openAsOperator(file)
  app = await addApp(platform, await addUser(platform))
})
afterEach(async () => await platform.database.close())

/** The same platform at a later time, for the purge. */
const later = (ms: number): Platform => ({
  ...platform,
  clock: { ...platform.clock, purgeBefore: () => platform.clock.now() + ms },
})
const purge = async (ms: number) =>
  (
    await purgeAll(
      later(ms),
      trace,
      async () => undefined,
      () => false,
    )
  ).artifacts

const upload = async (bytes: Uint8Array, version = '1.0.0', of = app) =>
  await uploadVersion(platform, of, {
    version,
    artifact: { filename: 'app.zip', content: receivedArtifact(bytes), sha256: null },
  })
const sumOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
const stored = async () => await countRows(file, 'artifacts', 'artifact_chunks')

const readAll = async (sha256: Uint8Array): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  for await (const piece of (await openArtifact(platform, sha256)).pieces) pieces.push(piece)
  return Buffer.concat(pieces)
}
const corrupt = async (statement: string, ...values: readonly Uint8Array[]): Promise<void> => {
  expect(await askBeside(file, `${statement} RETURNING sha256`, ...values)).toHaveLength(1)
}

describe('an artifact', () => {
  test('is stored in pieces of 256 KiB', async () => {
    for (const [length, pieces] of [
      [0, 0],
      [chunk, 1],
      [chunk * 2 + 1, 3],
    ] as const) {
      const bytes = randomBytes(length)
      await upload(bytes)
      expect(await stored()).toEqual({ artifacts: 1, artifact_chunks: pieces })
      expect((await readAll(sumOf(bytes))).equals(bytes)).toBe(true)
    }
  })

  test('is stored once for all uploads and names, until no version uses it', async () => {
    const bytes = randomBytes(chunk + 1)
    const other = await addApp(platform, await addUser(platform))
    await upload(bytes)
    await upload(bytes, '2.0.0')
    await upload(bytes, '1.0.0', other)
    expect(await stored()).toEqual({ artifacts: 1, artifact_chunks: 2 })

    await upload(Buffer.from('another'))
    await upload(Buffer.from('another'), '2.0.0')
    expect(await purge(48 * hour)).toBe(0)
    expect((await readAll(sumOf(bytes))).equals(bytes)).toBe(true)
    await uploadVersion(platform, other, { version: '1.0.0' })
    expect(await stored()).toEqual({ artifacts: 1, artifact_chunks: 1 })
    await expect(openArtifact(platform, sumOf(bytes))).rejects.toMatchObject({ code: 'version_not_found' })
  })

  test('lets other requests run between its pieces, and counts as damaged if its length has changed', async () => {
    const bytes = randomBytes(chunk * 2)
    await upload(bytes)
    const { pieces } = await openArtifact(platform, sumOf(bytes))
    for (let piece = 0; piece < 2; piece += 1) {
      let ran = false
      setImmediate(() => (ran = true))
      expect((await pieces.next()).done).toBe(false)
      expect(ran).toBe(true)
    }
    await corrupt('UPDATE artifacts SET size_bytes = size_bytes - 1 WHERE sha256 = ?', sumOf(bytes))
    await expect(readAll(sumOf(bytes))).rejects.toBeInstanceOf(ArtifactDamaged)
  })

  test('is read back unchanged, and only a damaged one is reported as damaged', async () => {
    const files = [randomBytes(chunk + 1), randomBytes(chunk + 1)] as const
    await upload(files[0])
    await upload(files[1], '2.0.0')
    for (const bytes of files) expect((await readAll(sumOf(bytes))).equals(bytes)).toBe(true)
    await corrupt(
      'UPDATE artifact_chunks SET data = ? WHERE position = 1 AND sha256 = ?',
      new Uint8Array(1),
      sumOf(files[0]),
    )
    await expect(readAll(sumOf(files[0]))).rejects.toBeInstanceOf(ArtifactDamaged)
    expect((await readAll(sumOf(files[1]))).equals(files[1])).toBe(true)
  })

  test('of a replaced draft is removed with its pieces at once, and an interrupted upload after a day', async () => {
    await upload(randomBytes(chunk * 3))
    await upload(randomBytes(10))
    expect(await stored()).toEqual({ artifacts: 1, artifact_chunks: 1 })
    await storeArtifact(platform, receivedArtifact(randomBytes(chunk * 3)))
    expect(await purge(23 * hour)).toBe(0)
    expect(await stored()).toEqual({ artifacts: 2, artifact_chunks: 4 })
    expect(await purge(25 * hour)).toBe(1)
    expect(await stored()).toEqual({ artifacts: 1, artifact_chunks: 1 })
  })

  test('that a version uses is never purged, in whatever status', async () => {
    const bytes = randomBytes(10)
    await upload(bytes)
    for (const step of ['submit', 'approve', 'activate'] as const) {
      await moveThrough(platform, app, '1.0.0', step)
      expect(await purge(48 * hour)).toBe(0)
    }
    await upload(randomBytes(10), '2.0.0')
    await moveThrough(platform, app, '2.0.0', 'submit', 'approve', 'activate')
    expect(await purge(48 * hour)).toBe(0)
    expect((await readAll(sumOf(bytes))).equals(bytes)).toBe(true)
  })

  test('whose upload was interrupted is completed by the next upload', async () => {
    const bytes = randomBytes(chunk * 2)
    const artifact = receivedArtifact(bytes)
    await storeArtifact(platform, { ...artifact, bytes: artifact.bytes.subarray(0, chunk) })
    await expect(openArtifact(platform, sumOf(bytes))).rejects.toBeInstanceOf(ArtifactDamaged)
    await upload(bytes)
    expect((await readAll(sumOf(bytes))).equals(bytes)).toBe(true)
  })

  test('uploaded while purges run is complete, or is refused so that the client repeats it', async () => {
    const bytes = randomBytes(chunk * 4)
    await upload(bytes)
    await upload(Buffer.from('another'))
    // Artifacts alone: a purge of two days later would remove the app token of the upload as well.
    const purging = (async () => {
      for (let round = 0; round < 200; round += 1) {
        const before = platform.clock.now() + (round % 2 === 0 ? hour : -hour)
        await platform.database.transaction(async (q) => await q.artifacts.purgeUnused(before, 250))
      }
    })()
    const uploading = upload(bytes, '2.0.0').then(
      () => 'stored',
      ({ code }) => code,
    )
    const outcome = await uploading
    await purging
    expect(['stored', 'unavailable']).toContain(outcome)
    if (outcome === 'unavailable') await upload(bytes, '2.0.0')
    expect((await readAll(sumOf(bytes))).equals(bytes)).toBe(true)
  })
})

describe('check', () => {
  test('names the version of a damaged artifact once', async () => {
    const bytes = randomBytes(chunk * 2)
    await upload(bytes)
    await upload(bytes, '2.0.0')
    await upload(randomBytes(100), '3.0.0')
    expect(await faultsIn(file)).toEqual([])
    const sentence = new RegExp(
      `^The artifact of ${app.slug} 1.0.0 is damaged: restore a backup.*, or upload it again.$`,
    )
    const told = [expect.stringMatching(sentence)]
    await corrupt(
      'UPDATE artifact_chunks SET data = ? WHERE position = 1 AND sha256 = ?',
      new Uint8Array(chunk),
      sumOf(bytes),
    )
    expect(await faultsIn(file)).toEqual(told)
    await upload(bytes, '4.0.0')
    expect(await faultsIn(file)).toEqual([])
    await corrupt('DELETE FROM artifact_chunks WHERE position = 1 AND sha256 = ?', sumOf(bytes))
    expect(await faultsIn(file)).toEqual(told)
    await upload(bytes, '5.0.0')
    expect(await faultsIn(file)).toEqual([])
  })

  test('accepts an interrupted upload that no version uses', async () => {
    const artifact = receivedArtifact(randomBytes(chunk * 2))
    await storeArtifact(platform, { ...artifact, bytes: artifact.bytes.subarray(0, chunk) })
    expect(await faultsIn(file)).toEqual([])
  })
})

test('an upload whose file is purged before its version is written must be sent again', async () => {
  const content = receivedArtifact(new TextEncoder().encode('a file'))
  const artifact = { filename: 'app.zip', content, sha256: null }
  const { database } = platform
  let transactions = 0
  const transaction: typeof database.transaction = async (work) => {
    transactions += 1
    const isWriting = transactions === 3 // the file and its one piece were stored before
    if (isWriting) await database.transaction(async (q) => await q.artifacts.purgeUnused(platform.clock.now() + 1, 1))
    return await database.transaction(work)
  }
  const purging: Platform = { ...platform, database: Object.create(database, { transaction: { value: transaction } }) }
  const caller = await developmentCaller(platform, app)
  const upload = { version: '1.0.0', notes: null, manifest: {}, scopes: [], artifact }
  expect(await refusalOf(createVersion(purging, trace, caller, upload, null))).toBe('unavailable')
  expect(await platform.database.queries.versions.byName(app.id, '1.0.0')).toBeNull()
  expect((await createVersion(platform, trace, caller, upload, null)).value.version.artifact).toMatchObject({
    filename: 'app.zip',
  })
})

test('a refused upload stores nothing', async () => {
  const content = receivedArtifact(new TextEncoder().encode('a file'))
  const artifact = { filename: 'app.zip', content, sha256: null }
  const upload = { version: '1.0.0', notes: null, manifest: {}, scopes: [], artifact, movedOnBy: 'activate' }
  const create = createVersion(platform, trace, await developmentCaller(platform, app), upload, null)
  expect(await refusalOf(create)).toBe('activation_not_allowed')
  expect(await stored()).toEqual({ artifacts: 0, artifact_chunks: 0 })
})
