import { contractPath } from '../domain/api-version.ts'

export { contractPath }

/** Whether a path belongs to the contract, even if it has no route. */
export const isContractPath = (path: string): boolean =>
  path.startsWith(contractPath) && (path.length === contractPath.length || path[contractPath.length] === '/')

/** The standard wire format: form-encoded, snake_case, no version header. */
export const tokenPath = '/oauth/token'
export const revocationPath = '/oauth/revoke'
export const introspectionPath = '/oauth/introspect'
/** For guards of proxies: is this token live, and may it do this? */
export const checkPath = '/oauth/check'
/** OpenID Connect Core section 5.3. */
export const userInfoPath = '/oauth/userinfo'
/** Where programs show a token, and are answered as RFC 6750 says. */
export const bearerPaths: readonly string[] = [checkPath, userInfoPath]
/** Where clients send forms. */
export const formPaths: readonly string[] = [tokenPath, revocationPath, introspectionPath]
/** The only call whose body may be larger than 16 MiB. */
export const importPath = '/api/management/resources/import'
/** A page for people. The metadata names it for clients. */
export const authorizationPath = '/oauth/authorize'

/** RFC 8414 section 3: the issuer has no path. */
export const serverMetadataPath = '/.well-known/oauth-authorization-server'
/** RFC 9728 section 3: comes before the path of the resource. */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource'

/** What programs call; everything else is a page for people. */
export const programPaths =
  /^\/(?:api|docs(?!\/guides(?:\/|$))|openapi(?:-builder)?\.json|apps\.json|healthz|readyz|metrics|\.well-known|oauth\/(?:token|revoke|introspect|check|userinfo))(?:\/|$)/

/**
 * The path of a URL, undecoded except for dot segments, which Bun resolves. It is cut from the text, because some Host
 * headers give no valid URL; Bun then gives host and path as they came, or only the path.
 */
export const pathOf = (url: string): string => {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  const end = url.indexOf('?', start)
  return start === -1 ? '' : url.slice(start, end === -1 ? url.length : end)
}

/** The parameters of a route in the path of a call. The router has checked that they can be decoded. */
export const pathParametersOf = (call: { readonly route: string; readonly path: string }) => {
  const given = call.path.split('/')
  const named = call.route.split('/').flatMap((segment, index): [string, string][] => {
    return segment.startsWith(':') ? [[segment.slice(1), decodeURIComponent(given[index] ?? '')]] : []
  })
  return Object.fromEntries(named)
}
