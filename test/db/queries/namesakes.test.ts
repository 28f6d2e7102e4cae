import { beforeAll, expect, test } from 'bun:test'
import type { Queries } from '../../../db/database.ts'
import { rowKey } from '../../../src/domain/identifier.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { addUser } from '../../support/world.ts'
import { addSide } from '../support/two-sides.ts'

// Rows that are alike in some columns are told apart by the others.

const platform = await platformOfFile()
let q: Queries
beforeAll(async () => {
  q = platform.database.queries
})

test('a website and a store may have the same slug', async () => {
  const { id: ownerId } = await addUser(platform)
  const times = { createdAt: 1, updatedAt: 1, publishedAt: null, externalId: null, deletedAt: null }
  const alike = { ownerId, name: 'Shop', slug: 'shop', status: 'draft', ...times } as const
  for (const kind of ['site', 'store'] as const) {
    await platform.database.transaction(
      async (writing) => await writing.resources.insert({ id: `res_${kind}`, kind, ...alike }),
    )
  }
  expect((await q.resources.find(ownerId, 'site', 'shop'))?.id).toBe('res_site')
  expect((await q.resources.find(ownerId, 'store', 'shop'))?.id).toBe('res_store')
})

test('a new password is set for its own user only, even if another user has the same hash', async () => {
  const { id } = await addUser(platform)
  const user = await q.users.byId(id)
  if (user === null) throw new Error('there is no such user')
  const twin = { ...user, id: 'usr_twin', email: 'twin@example.com' }
  await platform.database.transaction(async (writing) => await writing.users.insert(twin))
  const replace = async () =>
    await platform.database.transaction(
      async (writing) => await writing.users.replacePassword(id, user.passwordHash, 'another', 2),
    )
  expect(await replace()).toBe(true)
  expect(await q.users.byId(twin.id)).toEqual(twin)
})

test('a code for a frame needs a session of the owner of the install, not of another user', async () => {
  const [one, other] = [await addSide(platform), await addSide(platform)]
  const code = (await q.embedding.findCode(one.code))?.code
  if (code === undefined) throw new Error('there is no such code')
  const findWith = async (sessionKey: string) => {
    const row = { ...code, key: rowKey(platform.random.uuid(platform.clock.now())), sessionKey }
    await platform.database.transaction(async (writing) => {
      await writing.embedding.insertCode(row)
      await writing.embedding.insertSession({ ...row, endedAt: null })
    })
    return [await q.embedding.findCode(row.key), await q.embedding.findSession(row.key)].map((found) => found?.userId)
  }
  expect(await findWith(one.sessions[1])).toEqual([one.user.id, one.user.id])
  expect(await findWith(other.sessions[0])).toEqual([undefined, undefined])
})
