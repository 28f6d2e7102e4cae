import { describe, expect } from 'bun:test'
import { tally, together } from '../../support/crash.ts'
import { exchange, exchangeBody, refresh } from '../../support/world.ts'
import { addOwnedApp, openArena, race, secretsIn, tokensOf } from './support.ts'

const arena = openArena()
const { post, freshCode, pairsOf, grantOf, expectDead, userStatus } = arena

describe('a code', () => {
  race(
    'exchanged 200 times at once is exchanged once, the replays end what it issued, and a crash changes neither',
    async (round) => {
      const { server, app } = arena.world
      const code = await freshCode()
      const answers = await together(200, async () => await exchange(server.url, app, code))
      await arena.crash(round)

      expect(tally(answers)).toEqual({ '200': 1, invalid_grant: 199 })
      const won = answers.filter(({ status }) => status === 200).map(tokensOf)
      expect(won).toHaveLength(1)
      for (const tokens of won) {
        expect(await pairsOf(tokens.grantId)).toBe(1)
        expect((await grantOf(tokens.grantId))?.revokedAt).not.toBeNull()
        await expectDead(tokens)
      }
      expect((await exchange(arena.world.server.url, app, code)).status).toBe(401)
    },
  )

  race(
    'exchanged 200 times at once with one idempotency key gives the very same tokens, also after a crash',
    async (round) => {
      const { app } = arena.world
      const body = exchangeBody(app, await freshCode())
      const key = `exchange-once-${round}`
      const answers = await together(200, async () => await post('/oauth/token', body, key))
      await arena.crash(round)

      expect(tally(answers)).toEqual({ '200': 200 })
      const again = await post('/oauth/token', body, key)
      expect(new Set([...answers, again].map(secretsIn)).size).toBe(1)
      const tokens = tokensOf(again)
      expect(await pairsOf(tokens.grantId)).toBe(1)
      expect(await userStatus(tokens.accessToken)).toBe(200)
      expect((await refresh(arena.world.server.url, app, tokens.refreshToken)).status).toBe(200)
    },
  )

  race(
    'exchanged at once under 50 different idempotency keys is exchanged once, and its family ends',
    async (round) => {
      const body = exchangeBody(arena.world.app, await freshCode())
      const answers = await together(
        50,
        async (index) => await post('/oauth/token', body, `exchange-${round}-${index}`),
      )

      expect(tally(answers)).toEqual({ '200': 1, invalid_grant: 49 })
      for (const answer of answers) if (answer.status === 200) await expectDead(tokensOf(answer))
    },
  )

  race(
    "presented by another app at the same time is exchanged by its own app, and the other's attempts end nothing",
    async () => {
      const { server, app } = arena.world
      const other = await addOwnedApp(arena)
      const code = await freshCode()
      const stolen = { ...exchangeBody(app, code), ...other.development }
      const answers = await together(60, async (index) =>
        index === 30 ? await exchange(server.url, app, code) : await post('/oauth/token', stolen),
      )

      expect(tally(answers)).toEqual({ '200': 1, invalid_grant: 59 })
      for (const answer of answers) {
        if (answer.status === 200) expect(await userStatus(tokensOf(answer).accessToken)).toBe(200)
      }
    },
  )

  race('presented with wrong verifiers at the same time is exchanged only with the right one', async () => {
    const { server, app } = arena.world
    const code = await freshCode()
    const wrong = { ...exchangeBody(app, code), codeVerifier: 'w'.repeat(43) }
    const answers = await together(60, async (index) =>
      index === 59 ? await exchange(server.url, app, code) : await post('/oauth/token', wrong),
    )

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers[59]?.status).toBe(200)
  })
})
