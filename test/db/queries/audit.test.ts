import { beforeAll, expect, test } from 'bun:test'
import type { Queries } from '../../../db/database.ts'
import { issueAppToken } from '../../../src/operations/oauth/issue-app-token.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { trace } from '../../support/operator.ts'
import { addFamily } from '../../support/grant-family.ts'
import { addSide, type Side } from '../support/two-sides.ts'

const platform = await platformOfFile()
let q: Queries
let sides: readonly [Side, Side]
/** The time between what happened to both sides first and what happened to both later. */
let between: number
beforeAll(async () => {
  q = platform.database.queries
  sides = [await addSide(platform), await addSide(platform)]
  await Bun.sleep(2)
  between = platform.clock.now()
  for (const { app, user } of sides) {
    await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
    await addFamily(platform, app, user, 1)
  }
})

const list = async (appId: string | null, since: number, limit = 1_000) => await q.audit.list({ appId, since, limit })
const kinds = ['app_token.issued', 'user_tokens.issued', 'credential.created']

test('the trail of an app has its events and issued tokens, and nothing of another app', async () => {
  for (const { app } of sides) {
    const events = await list(app.id, 0)
    expect(new Set(events.map(({ appId }) => appId))).toEqual(new Set([app.id]))
    const actions = events.map(({ action }) => action)
    for (const kind of kinds) expect(actions).toContain(kind)
  }
  const all = await list(null, 0)
  const parts = [await list(sides[0].app.id, 0), await list(sides[1].app.id, 0)].flat()
  expect(all).toHaveLength(parts.length + all.filter(({ appId }) => appId === null).length)
})

test('the trail since a time has every event from then on', async () => {
  const all = await list(null, 0)
  const late = await list(null, between)
  expect(late).toEqual(all.filter(({ at }) => at >= between))
  expect(late.map(({ action }) => action).toSorted()).toEqual([
    'app_token.issued',
    'app_token.issued',
    'user_tokens.issued',
    'user_tokens.issued',
  ])
  const [{ app }] = sides
  expect((await list(app.id, between)).map(({ appId }) => appId)).toEqual([app.id, app.id])
  expect(await list(null, platform.clock.now() + 60_000)).toEqual([])
})

test('the latest events of a long trail are listed oldest first', async () => {
  const all = await list(null, 0)
  expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted((a, b) => a - b))
  expect(await list(null, 0, 3)).toEqual(all.slice(-3))
})

test("a page of an app's trail continues before an event, for one action or all, without issued tokens", async () => {
  for (const { app } of sides) {
    const page = await q.audit.pageOfApp(app.id, null, '~', 1_000)
    expect(new Set(page.map(({ appId }) => appId))).toEqual(new Set([app.id]))
    const [newest, ...older] = page
    expect(await q.audit.pageOfApp(app.id, null, newest?.id ?? '', 1_000)).toEqual(older)
    const created = await q.audit.pageOfApp(app.id, 'credential.created', '~', 1_000)
    expect(created).toEqual(page.filter(({ action }) => action === 'credential.created'))
    expect(page.map(({ action }) => action)).not.toContain('app_token.issued')
  }
})

test.each(['newest', 'oldest'] as const)(
  'a search of any kind reads each row once, %s first, two at a time',
  async (order) => {
    const question = {
      appId: null,
      actorKind: null,
      actorId: null,
      action: null,
      target: null,
      outcome: null,
      requestId: null,
    }
    for (const look of [q.audit.searchEvents, q.audit.searchAppTokens, q.audit.searchTokenPairs]) {
      const found: string[] = []
      let [after, before, looks] = ['0'.repeat(32), 'f'.repeat(32), 0]
      for (let searchedTo: string | null = ''; searchedTo !== null; looks += 1) {
        const finds: Awaited<ReturnType<typeof look>> = await look(question, {
          after,
          before,
          order,
          rows: 2,
          limit: 10,
        })
        found.push(...finds.events.map(({ id }) => id))
        searchedTo = finds.searchedTo
        const reached = searchedTo?.slice('aud_'.length) ?? ''
        if (order === 'newest') before = reached
        else after = reached
      }
      const sorted = [...new Set(found)].toSorted()
      expect(found).toEqual(order === 'newest' ? sorted.toReversed() : sorted)
      expect(found.length).toBeGreaterThan(2)
      expect(looks).toBe(Math.floor(found.length / 2) + 1)
    }
  },
)
