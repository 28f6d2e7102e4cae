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

type AskedApiVersion =
  | { readonly kind: 'served'; readonly version: ApiVersion }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unsupported'; readonly supported: readonly string[] }
  | { readonly kind: 'retired'; readonly sunsetAt: number | null }

/** The version that the header asks for. Never falls back to another version. */
export const readApiVersion = (
  header: string | null,
  versions: readonly ApiVersion[] = apiVersions,
): AskedApiVersion => {
  if (header === null) return { kind: 'missing' }
  const version = versions.find(({ name }) => name === header)
  if (version === undefined) {
    const supported = versions.filter(({ status }) => status !== 'retired').map(({ name }) => name)
    return { kind: 'unsupported', supported }
  }
  return version.status === 'retired' ? { kind: 'retired', sunsetAt: version.sunsetAt } : { kind: 'served', version }
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
