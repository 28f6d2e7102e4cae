import { beforeAll, expect, test } from 'bun:test'
import type { Queries } from '../../../db/database.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { addSide, type Side } from '../support/two-sides.ts'

// A page begins after the last row of the previous one.

const platform = await platformOfFile()
let q: Queries
let sides: readonly [Side, Side]
beforeAll(async () => {
  q = platform.database.queries
  sides = [await addSide(platform), await addSide(platform)]
})

const all = async (appId: string | null) => (await q.installs.list(appId)).map((row) => row.install.id)

test('installs are listed for one app, before a given one, or for every app', async () => {
  const [{ app, install }, other] = sides
  const page = async (after: string) =>
    (
      await q.installs.searchOfApp(app.id, { status: null, kind: null, environment: null }, 'newest', {
        after,
        rows: 10,
        limit: 10,
      })
    ).found.map(({ id }) => id)
  expect([await page('~'), await page(install)]).toEqual([[install], []])
  expect([await all(app.id), await all(null)]).toEqual([[install], [install, other.install]])
})

const after = async (since: number, id: string) =>
  (await q.versions.queue('review', { since, id }, 10)).map((row) => row.id)

test('versions that wait for an operator are listed after a place in the queue, even if two arrived in the same millisecond', async () => {
  const at = Date.UTC(2027, 0)
  const ids = sides.map(({ draft }) => draft).toSorted()
  await platform.database.transaction(async (writing) => {
    for (const id of ids) await writing.versions.move(id, ['draft'], 'submitted', { submittedAt: at }, at)
  })
  expect(await after(0, '')).toEqual(ids)
  expect(await after(at, '')).toEqual(ids)
  expect(await after(at, ids[0] ?? '')).toEqual(ids.slice(1))
  expect(await after(at, ids[1] ?? '')).toEqual([])
  expect(await after(at - 1, '~')).toEqual(ids)
  expect(await after(at + 1, '')).toEqual([])
})
