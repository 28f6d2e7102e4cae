import type { Resource, ResourcePage, ResourceQuery, UserIdentity } from './contract-types.ts'
import { type Endpoints, everyItem } from './endpoints.ts'
import { type UserTokens, type UserTokenSet, withToken } from './tokens.ts'
import type { CallOptions } from './transport.ts'

/** What an app may do for one user who consented. Every call throws AppPlatformError. */
export type UserSession = {
  me(options?: CallOptions): Promise<UserIdentity>
  resources(query: ResourceQuery, options?: CallOptions): Promise<ResourcePage>
  /** Resources of all pages. A page is requested when the loop reaches it. */
  allResources(query: Pick<ResourceQuery, 'kind'>, options?: CallOptions): AsyncGenerator<Resource, void>
  /** The tokens that were stored last. */
  tokens(): UserTokenSet
  /** Ends the whole grant: none of its tokens works again. */
  revoke(options?: CallOptions): Promise<void>
}

export const createUserSession = (
  endpoints: Endpoints,
  tokens: UserTokens,
  revokeToken: (token: string, options?: CallOptions) => Promise<void>,
): UserSession => {
  const resources = async (query: ResourceQuery, options: CallOptions = {}) =>
    await withToken(tokens, options, async (signed) => await endpoints.listResources(query, signed))
  return {
    me: async (options = {}) => await withToken(tokens, options, endpoints.identifyUser),
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
