/** The standard wire format, beside the contract: form-encoded, snake_case, no version header. */
export const tokenPath = '/oauth/token'
export const revocationPath = '/oauth/revoke'
export const introspectionPath = '/oauth/introspect'
/** A page for people; told to clients here. */
export const authorizationPath = '/oauth/authorize'

/** RFC 8414 section 3: the issuer has no path. */
export const serverMetadataPath = '/.well-known/oauth-authorization-server'
/** RFC 9728 section 3: goes before the path of the resource. */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource'

/** Where clients send forms. */
export const formPaths: readonly string[] = [tokenPath, revocationPath, introspectionPath]
