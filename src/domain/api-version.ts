import { type PlatformError, refuse } from './errors.ts'

/** Where the endpoints of the contract begin. With the issuer before it, the resource that tokens are for (RFC 8707). */
export const contractPath = '/api/app-platform'

/** One version of the contract and its state (contract section 1). Times are epoch milliseconds. */
export type ApiVersion = {
  readonly name: string
  readonly status: 'stable' | 'deprecated' | 'retired'
  readonly deprecatedAt: number | null
  readonly sunsetAt: number | null
}

/** The value of X-Service-Api-Version. */
export const currentApiVersion = '2026-08'
/** The version that this program serves. It stays served for 12 months after its successor becomes stable. */
export const servedApiVersion: ApiVersion = {
  name: currentApiVersion,
  status: 'stable',
  deprecatedAt: null,
  sunsetAt: null,
}
/** Every version that this program knows, including retired ones. */
export const apiVersions: readonly ApiVersion[] = [servedApiVersion]

/**
 * Why the version that the header names is not served; null when it is. Never falls back to another version. Repeated headers
 * arrive joined by a comma, which is an unknown version.
 */
export const apiVersionRefusal = (header: string | null, versions = apiVersions): PlatformError | null => {
  if (header === null) return refuse('api_version_missing')
  const asked = versions.find(({ name }) => name === header)
  if (asked === undefined) {
    const supported = versions.filter(({ status }) => status !== 'retired').map(({ name }) => name)
    return refuse('api_version_unsupported', { details: { supported } })
  }
  if (asked.status !== 'retired') return null
  const sunsetAt = asked.sunsetAt === null ? null : new Date(asked.sunsetAt).toISOString()
  return refuse('api_version_retired', { details: { sunsetAt } })
}

/** Headers of a deprecated version from the first day of the overlap (RFC 9745, RFC 8594). */
export const overlapHeaders = (version: ApiVersion, documentation: string): Readonly<Record<string, string>> =>
  version.deprecatedAt === null || version.sunsetAt === null
    ? {}
    : {
        Deprecation: `@${Math.floor(version.deprecatedAt / 1000)}`,
        Sunset: new Date(version.sunsetAt).toUTCString(),
        Link: `<${documentation}>; rel="deprecation"; type="text/html"`,
      }
