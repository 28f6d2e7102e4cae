/** Where the contract's endpoints live. */
export const contractPath = '/api/app-platform'

/** What programs call; everything else is a page for people. */
export const programPaths =
  /^\/(?:api|docs|openapi\.json|healthz|readyz|metrics|\.well-known|oauth\/(?:token|revoke|introspect))(?:\/|$)/
