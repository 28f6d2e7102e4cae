import { describe, expect } from 'bun:test'
import { together } from '../../support/crash.ts'
import { exchange } from '../../support/world.ts'
import { answerOf, askPath, fieldsOf, look, post, type Seen } from '../../pages/support/front-door.ts'
import { openArena, race } from './support.ts'

const arena = openArena()

const ask = async () => fieldsOf(await look(arena.world.server.url, askPath(arena.world.app), arena.session))
const decide = async (fields: Readonly<Record<string, string>>, decision: 'allow' | 'deny'): Promise<Seen> =>
  await post(arena.world.server.url, '/oauth/authorize', { ...fields, decision }, { session: arena.session })
const openGrants = async () =>
  (await arena.world.platform.database.queries.personal.rows('grants', arena.world.user.id)).length

/** The answer is a page that leads on to the app. */
const isDecided = ({ status }: Seen): boolean => status === 200

/** What the answers that decided bring to the app; all others say that the decision was made before. */
const decisionsIn = (answers: readonly Seen[]) => {
  expect(new Set(answers.filter((seen) => !isDecided(seen)).map(({ status }) => status))).toEqual(new Set([422]))
  return answers.filter(isDecided).map(answerOf)
}

describe('the form of the consent page', () => {
  race('sent 200 times at once gives one code, which works once, also after a crash', async (round) => {
    const fields = await ask()
    const decided = decisionsIn(await together(200, async () => await decide(fields, 'allow')))
    await arena.crash(round)

    expect(decided).toHaveLength(1)
    const code = decided[0]?.['code'] ?? ''
    const { server, app } = arena.world
    expect((await decide(fields, 'allow')).status).toBe(422)
    expect((await exchange(server.url, app, code)).status).toBe(200)
    expect((await exchange(server.url, app, code)).status).toBe(401)
  })

  race('sent 200 times at once with both answers takes one of them, and only Allow creates a grant', async (round) => {
    const before = await openGrants()
    const fields = await ask()
    const answers = await together(
      200,
      async (index) => await decide(fields, index % 2 === round % 2 ? 'deny' : 'allow'),
    )
    const decided = decisionsIn(answers)
    await arena.crash(round)

    expect(decided).toHaveLength(1)
    const allowed = decided[0]?.['code'] !== undefined
    expect(decided[0]?.['error']).toBe(allowed ? undefined : 'access_denied')
    expect(await openGrants()).toBe(before + (allowed ? 1 : 0))
  })
})
