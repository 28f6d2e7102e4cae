import { beforeAll, expect, test } from 'bun:test'
import type { Queries } from '../../../db/database.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { addSide, type Side } from '../support/two-sides.ts'

const platform = await platformOfFile()
let q: Queries
let sides: readonly [Side, Side]
beforeAll(async () => {
  q = platform.database.queries
  sides = [await addSide(platform), await addSide(platform)]
})

const hour = 3_600_000
type Kind = 'liveAppTokens' | 'liveSessions' | 'liveGrants'
const countOf = async (kind: Kind, later = 0) => (await q.health[kind](platform.clock.now() + later, 1_000)).count
const write = async (work: (writing: Queries) => Promise<unknown>) => await platform.database.transaction(work)

test('app tokens count as live until they are revoked or expire', async () => {
  const before = await countOf('liveAppTokens')
  await write(async (writing) => await writing.appTokens.revoke(sides[0].token, 1))
  expect([await countOf('liveAppTokens'), await countOf('liveAppTokens', hour)]).toEqual([before - 1, 0])
})

test('sessions count as live until they end or expire, or their user is disabled', async () => {
  const before = await countOf('liveSessions')
  await write(async (writing) => await writing.sessions.end(sides[0].sessions[0], 1))
  expect([await countOf('liveSessions'), await countOf('liveSessions', 12 * hour)]).toEqual([before - 1, 0])
  await write(async (writing) => await writing.users.change(sides[1].user.id, { status: 'disabled' }, 1))
  expect(await countOf('liveSessions')).toBe(before - 1 - sides[1].sessions.length)
})

test('grants count as live until they are revoked or expire', async () => {
  expect(await countOf('liveGrants')).toBe(4)
  await write(async (writing) => await writing.grants.revoke(sides[0].grants[0].id, 1))
  expect([await countOf('liveGrants'), await countOf('liveGrants', hour)]).toEqual([3, 0])
})
