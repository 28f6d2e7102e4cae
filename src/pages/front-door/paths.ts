import { type AuthorizationRequest, authorizationQueryOf } from '../../domain/authorization-request.ts'

/** The authorization endpoint: where people are asked, and where their decision goes. */
export const authorizePath = '/oauth/authorize'
/** Signs out, and comes back to the same question. */
export const switchAccountPath = '/oauth/authorize/switch-account'

/** The page that asks this; whoever goes there has the request checked whole. */
export const askPath = (request: AuthorizationRequest): string => `${authorizePath}?${authorizationQueryOf(request)}`

/** Signing in, and then the page that asks this. */
export const signInPath = (request: AuthorizationRequest): string =>
  `/sign-in?return_to=${encodeURIComponent(askPath(request))}`
