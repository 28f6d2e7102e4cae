import { appToken, grantTokens, signIn, type World } from '../../support/world.ts'
import { contractRoutes } from './contract-routes.ts'

/** A live token of each kind of caller; `app` is of development credentials, `live` of production ones. */
export const callerTokens = async (world: World) => {
  const { server, app, user } = world
  return {
    app: await appToken(server.url, app.development),
    live: await appToken(server.url, app.production),
    user: (await grantTokens(world)).accessToken,
    session: await signIn(server.url, user),
  } as const
}
type CallerTokens = Awaited<ReturnType<typeof callerTokens>>

/** The live token that a route asks for, if it asks for one. */
export const tokenFor = (path: string, tokens: CallerTokens): { readonly token?: string } => {
  const caller = contractRoutes.find((route) => route.path === path)?.caller ?? 'none'
  return caller === 'none' ? {} : { token: tokens[caller] }
}
