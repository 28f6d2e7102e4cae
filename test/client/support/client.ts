import { createPlatformClient, type PlatformClient, type PlatformClientOptions } from '../../../src/client/index.ts'
import type { AppInWorld, World } from '../../support/world.ts'
import { authorizeBody, signIn } from '../../support/world.ts'
import { call } from '../../support/call.ts'

/** Quick repeats: no test is about how long a second is. */
export const quick = { firstWaitMs: 5, longestWaitMs: 20 } as const

/** The app of the world with its development credentials, at the server itself or at a proxy before it. */
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

/** By which name the server knows itself. */
export const publicUrlOf = ({ server }: World): string => `http://localhost:${new URL(server.url).port}`

/** What the consent page does when the user says yes: the URL that the browser is sent back to. */
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
