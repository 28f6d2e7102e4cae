import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Queries } from '../../../db/database.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { openAsOperator } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addSide, type Side } from '../support/two-sides.ts'

let platform: Platform
let q: Queries
let sides: readonly [Side, Side]
beforeAll(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'health.db'))
  q = platform.database.queries
  sides = [await addSide(platform), await addSide(platform)]
})
afterAll(async () => await platform.database.close())

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
