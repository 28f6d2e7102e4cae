/** Where the pages and forms of the account are. */
export const accountPaths = {
  overview: '/account',
  password: '/account/password',
  sessions: '/account/sessions',
  endOthers: '/account/sessions/end-others',
  apps: '/account/apps',
  revokeAll: '/account/apps/revoke-all',
} as const

// Their types are the paths themselves, by which a route knows its parameters.
export const endSessionPath = <Key extends string>(key: Key) => `${accountPaths.sessions}/${key}/end` as const
export const appPath = <ClientId extends string>(clientId: ClientId) => `${accountPaths.apps}/${clientId}` as const
export const revokeAppPath = <ClientId extends string>(clientId: ClientId) => `${appPath(clientId)}/revoke` as const
export const revokeAuthorizationPath = <ClientId extends string, GrantId extends string>(
  clientId: ClientId,
  grantId: GrantId,
) => `${appPath(clientId)}/authorizations/${grantId}/revoke` as const
