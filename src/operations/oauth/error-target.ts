import type { AuthorizationError } from '../../domain/authorization-request.ts'
import { redirectTarget } from '../../domain/registered-url.ts'
import type { Platform } from '../platform.ts'

/**
 * Where an app is told of an error, with the issuer (RFC 6749 section 4.1.2.1, RFC 9207 section 2). The redirect URI has
 * been verified; a state that cannot be given back is null.
 */
export const errorTarget = (
  platform: Platform,
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string | null },
  { error, description }: AuthorizationError,
): string =>
  redirectTarget(redirectUri, {
    error,
    error_description: description,
    ...(state === null ? {} : { state }),
    iss: platform.publicUrl,
  })
