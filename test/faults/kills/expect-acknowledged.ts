import { expect } from 'bun:test'
import { call } from '../../support/call.ts'
import { answered } from '../../support/nodes.ts'
import { exchange, refresh, type World } from '../../support/world.ts'
import type { ClientHistory } from './client-history.ts'

export const statusOf = async (world: World, path: string, token: string): Promise<number> =>
  (await answered(async () => await call(world.server.url, 'GET', path, { token }))).status

/** What was acknowledged exists, what was ended has ended, and a request without an answer happened completely or not at all. */
export const expectAcknowledged = async (world: World, managing: string, history: ClientHistory): Promise<void> => {
  await expectKept(world, history)
  await expectUnansweredOnce(world, managing, history)
  await expectSpent(world, history)
}

/** The same for an earlier run of the server, whose unanswered request was checked after it. */
export const expectStillAcknowledged = async (world: World, history: ClientHistory): Promise<void> => {
  await expectKept(world, history)
  await expectSpent(world, history)
}

const expectKept = async (world: World, history: ClientHistory): Promise<void> => {
  const { server, app, platform } = world
  const ended = [...history.endedAccessTokens, ...history.revoked.map(({ accessToken }) => accessToken)]
  for (const token of ended) expect(await statusOf(world, '/oauth/me', token)).toBe(401)
  for (const { refreshToken } of history.revoked)
    expect((await answered(async () => await refresh(server.url, app, refreshToken))).status).toBe(401)
  for (const token of history.appTokens) expect(await statusOf(world, '/me', token)).toBe(200)
  for (const token of history.revokedAppTokens) expect(await statusOf(world, '/me', token)).toBe(401)
  for (const [version, revision] of history.versions) {
    expect((await platform.database.queries.versions.byName(app.id, version))?.revision).toBe(revision)
  }
}

/** A replayed code ends its grant, so this comes last. */
const expectSpent = async ({ server, app }: World, { spentCodes }: ClientHistory): Promise<void> => {
  for (const code of spentCodes)
    expect((await answered(async () => await exchange(server.url, app, code))).status).toBe(401)
}

/** A request without an answer that is sent again, under its key if it had one, ends as if it had been sent once. */
const expectUnansweredOnce = async (
  world: World,
  managing: string,
  { unanswered, current }: ClientHistory,
): Promise<void> => {
  const { server, app, platform } = world
  const again = async (path: string, body: unknown, key: string | undefined, token?: string) =>
    await answered(
      async () =>
        await call(server.url, 'POST', path, {
          body,
          ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
          ...(token === undefined ? {} : { token }),
        }),
    )
  switch (unanswered?.kind) {
    case 'exchange':
    case 'refresh': {
      const first = await again('/oauth/token', unanswered.body, unanswered.key)
      const second = await again('/oauth/token', unanswered.body, unanswered.key)
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
      expect((await again('/versions', { version: unanswered.version }, unanswered.key, managing)).status).toBe(201)
      expect((await platform.database.queries.versions.byName(app.id, unanswered.version))?.revision).toBe(1)
      return
    }
    case 'revoke': {
      const alive = (await statusOf(world, '/oauth/me', unanswered.tokens.accessToken)) === 200
      // Both tokens are live, or neither.
      expect((await answered(async () => await refresh(server.url, app, unanswered.tokens.refreshToken))).status).toBe(
        alive ? 200 : 401,
      )
      return
    }
    case 'other':
    case undefined:
      if (current !== null) expect(await statusOf(world, '/oauth/me', current.accessToken)).toBe(200)
      return
    default:
      unanswered satisfies never
  }
}
