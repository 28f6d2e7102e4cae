import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Answer, call } from '../../support/call.ts'
import { crash } from '../../support/crash.ts'
import { isLong, patience, rounds } from '../../support/proof.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  authorize,
  createWorld,
  endWorld,
  exchange,
  grantTokens,
  refresh,
  signIn,
  type Tokens,
  type World,
} from '../../support/world.ts'
import { faultsIn } from '../../support/database-file.ts'

/** At length a crash comes now and then: a start costs more than a race. */
const roundsToCrash = 20

/** One world for all races of a file, examined when they are over. */
export const openArena = () => {
  let world: World
  let session: string
  let bystander: Tokens
  beforeAll(async () => {
    world = await createWorld({ env: { LIFETIME_REFRESH_RETRY: '60' } }) // a crash on a busy machine takes a while
    session = await signIn(world.server.url, world.user)
    bystander = await grantTokens(world)
  }, 60_000)
  afterAll(async () => {
    // Kills do not change a grant that is not used.
    if (!isLong) expect(await arena.userStatus(bystander.accessToken)).toBe(200) // in a long run its hour may have passed
    expect(await faultsIn(world.server.database)).toEqual([])
    await endWorld(world)
  }, 60_000)

  const arena = {
    get world() {
      return world
    },
    get session() {
      return session
    },
    /** Kills the server and starts it again: every time in the tests, sometimes in `bun run prove`. */
    crash: async (round: number): Promise<void> => {
      if (round % roundsToCrash === 0) world = await crash(world)
    },
    post: async (path: string, body: unknown, key?: string, token?: string): Promise<Answer> =>
      await call(world.server.url, 'POST', path, {
        body,
        ...(token === undefined ? {} : { token }),
        ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
      }),
    userStatus: async (accessToken: string): Promise<number> =>
      (await call(world.server.url, 'GET', '/oauth/me', { token: accessToken })).status,
    appStatus: async (token: string): Promise<number> => (await call(world.server.url, 'GET', '/me', { token })).status,
    freshCode: async (): Promise<string> => await authorize(world.server.url, session, world.app),
    freshTokens: async (): Promise<Tokens> =>
      tokensOf(await exchange(world.server.url, world.app, await arena.freshCode())),
    grantOf: async (id: string) => await world.platform.database.queries.grants.byId(id),
    /** The pairs of a grant, by walking back from its current one. */
    pairsOf: async (grantId: string): Promise<number> => {
      const { grants } = world.platform.database.queries
      let pairs = 0
      for (let key = (await arena.grantOf(grantId))?.currentKey ?? -1; ; pairs += 1) {
        const found = await grants.findPair(key)
        if (found === null) return pairs
        key = found.pair.previousKey
      }
    },
    expectDead: async (tokens: Tokens): Promise<void> => {
      expect(await arena.userStatus(tokens.accessToken)).toBe(401)
      expect((await refresh(world.server.url, world.app, tokens.refreshToken)).status).toBe(401)
    },
  }
  return arena
}
type Arena = ReturnType<typeof openArena>

/** An app with an owner of its own, because the apps of an account are limited. */
export const addOwnedApp = async ({ world: { platform } }: Arena): Promise<AppInWorld> =>
  await addApp(platform, await addUser(platform))

/** A race runs `quick` times in the tests, and many times in `bun run prove races`. */
export const race = (rule: string, run: (round: number) => Promise<void>, quick = 1): void =>
  test(
    rule,
    async () => {
      for (let round = 0; round < rounds(quick); round += 1) await run(round)
    },
    patience,
  )

export const tokensOf = ({ body }: Answer): Tokens => body
export const secretsIn = ({ body }: Answer): string => `${body.accessToken} ${body.refreshToken} ${body.grantId}`
