import type { Resource, ResourcePage, ResourceQuery, UserIdentity } from './contract-types.ts'
import type { Endpoints } from './endpoints.ts'
import { everyItem } from './every-item.ts'
import type { CallOptions } from './transport.ts'
import type { UserTokens, UserTokenSet } from './user-tokens.ts'
import { withToken } from './with-token.ts'

/** What an app may do for one user who allowed it. Every call throws AppPlatformError. */
export type UserSession = {
  me(options?: CallOptions): Promise<UserIdentity>
  resources(query: ResourceQuery, options?: CallOptions): Promise<ResourcePage>
  /** Resources of all pages, page by page. */
  allResources(query: Pick<ResourceQuery, 'kind'>, options?: CallOptions): AsyncGenerator<Resource, void>
  /** The tokens as they were stored last. */
  tokens(): UserTokenSet
  /** Ends the whole grant: no token of it works again. */
  revoke(options?: CallOptions): Promise<void>
}

export const createUserSession = (
  endpoints: Endpoints,
  tokens: UserTokens,
  revokeToken: (token: string, options?: CallOptions) => Promise<void>,
): UserSession => {
  const resources = async (query: ResourceQuery, options: CallOptions = {}) =>
    await withToken(
      tokens,
      async (bearer) => await endpoints.listResources(query, { ...options, bearer }),
      options.signal,
    )
  return {
    me: async (options = {}) =>
      await withToken(tokens, async (bearer) => await endpoints.identifyUser({ ...options, bearer }), options.signal),
    resources,
    allResources: (query, options) =>
      everyItem(
        async (cursor) =>
          await resources({ ...query, limit: 100, ...(cursor === undefined ? {} : { cursor }) }, options),
      ),
    tokens: () => tokens.current(),
    revoke: async (options) => await revokeToken(tokens.current().refreshToken, options),
  }
}
