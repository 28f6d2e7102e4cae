import { expect } from 'bun:test'
import { call } from '../../support/call.ts'
import { exchange, refresh, type World } from '../../support/world.ts'
import type { Story } from './story.ts'

export const statusOf = async (world: World, path: string, token: string): Promise<number> =>
  (await call(world.server.url, 'GET', path, { token })).status

/** What was acknowledged is there, what was ended is over, and what was begun has ended one way or the other. */
export const expectTold = async (world: World, managing: string, story: Story): Promise<void> => {
  await expectKept(world, story)
  await expectUnheard(world, managing, story)
  await expectSpent(world, story)
}

/** The same of a life before the last one, whose end was settled then. */
export const expectStillTold = async (world: World, story: Story): Promise<void> => {
  await expectKept(world, story)
  await expectSpent(world, story)
}

const expectKept = async (world: World, story: Story): Promise<void> => {
  const { server, app, platform } = world
  const over = [...story.deadAccess, ...story.revoked.map(({ accessToken }) => accessToken)]
  for (const token of over) expect(await statusOf(world, '/oauth/me', token)).toBe(401)
  for (const { refreshToken } of story.revoked) expect((await refresh(server.url, app, refreshToken)).status).toBe(401)
  for (const token of story.appTokens) expect(await statusOf(world, '/me', token)).toBe(200)
  for (const token of story.deadAppTokens) expect(await statusOf(world, '/me', token)).toBe(401)
  for (const [version, revision] of story.versions) {
    expect((await platform.database.queries.versions.byName(app.id, version))?.revision).toBe(revision)
  }
}

/** A code that comes back ends its grant, so this comes last. */
const expectSpent = async ({ server, app }: World, { spentCodes }: Story): Promise<void> => {
  for (const code of spentCodes) expect((await exchange(server.url, app, code)).status).toBe(401)
}

/** A request without an answer, sent again under its key, ends as if it had been sent once. */
const expectUnheard = async (world: World, managing: string, { unheard, current }: Story): Promise<void> => {
  const { server, app, platform } = world
  const again = async (path: string, body: unknown, key: string, token?: string) =>
    await call(server.url, 'POST', path, {
      body,
      headers: { 'Idempotency-Key': key },
      ...(token === undefined ? {} : { token }),
    })
  switch (unheard?.kind) {
    case 'exchange':
    case 'refresh': {
      const first = await again('/oauth/token', unheard.body, unheard.key)
      const second = await again('/oauth/token', unheard.body, unheard.key)
      expect(first.status).toBe(200)
      expect([second.body.accessToken, second.body.refreshToken]).toEqual([
        first.body.accessToken,
        first.body.refreshToken,
      ])
      expect(await statusOf(world, '/oauth/me', first.body.accessToken)).toBe(200)
      if (current !== null) expect(await statusOf(world, '/oauth/me', current.accessToken)).toBe(401)
      return
    }
    case 'version': {
      expect((await again('/versions', { version: unheard.version }, unheard.key, managing)).status).toBe(201)
      expect((await platform.database.queries.versions.byName(app.id, unheard.version))?.revision).toBe(1)
      return
    }
    case 'revoke': {
      const alive = (await statusOf(world, '/oauth/me', unheard.tokens.accessToken)) === 200
      // Wholly there or wholly gone.
      expect((await refresh(server.url, app, unheard.tokens.refreshToken)).status).toBe(alive ? 200 : 401)
      return
    }
    case 'other':
    case undefined:
      if (current !== null) expect(await statusOf(world, '/oauth/me', current.accessToken)).toBe(200)
      return
    default:
      unheard satisfies never
  }
}
