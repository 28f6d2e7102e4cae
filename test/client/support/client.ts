import { createPlatformClient, type PlatformClient, type PlatformClientOptions } from '../../../src/client/index.ts'
import type { AppInWorld, World } from '../../support/world.ts'
import { authorizeBody, signIn } from '../../support/world.ts'
import { call } from '../../support/call.ts'

/** Short waits, so that tests run fast. */
export const quick = { firstWaitMs: 5, longestWaitMs: 20 } as const

/** A client with the development credentials of the app, for the server or a proxy in front of it. */
export const clientOf = (
  world: World,
  url = world.server.url,
  more: Partial<PlatformClientOptions> = {},
): PlatformClient =>
  createPlatformClient({
    url,
    ...world.app.development,
    appScope: 'site:read',
    issuer: publicUrlOf(world),
    retry: quick,
    ...more,
  })

/** The public URL of the server. */
export const publicUrlOf = ({ server }: World): string => `http://localhost:${new URL(server.url).port}`

/** Consents as the user does on the page, and returns the URL that the browser is redirected to. */
export const consent = async (world: World, authorizationUrl: string, app: AppInWorld = world.app): Promise<string> => {
  const asked = new URL(authorizationUrl).searchParams
  const session = await signIn(world.server.url, world.user)
  const body = {
    ...authorizeBody(app, asked.get('scope') ?? ''),
    redirectUri: asked.get('redirect_uri'),
    state: asked.get('state'),
    codeChallenge: asked.get('code_challenge'),
  }
  return (await call(world.server.url, 'POST', '/oauth/authorize', { token: session, body })).body.redirectTo
}
