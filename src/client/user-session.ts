import type { ResourceQuery } from './contract-types.ts'
import { type Endpoints, everyItem } from './endpoints.ts'
import { type UserTokens, withToken } from './tokens.ts'
import type { CallOptions } from './transport.ts'

/** What an app may do for one user who consented. Every call throws AppPlatformError. */
export type UserSession = ReturnType<typeof createUserSession>

export const createUserSession = (
  endpoints: Endpoints,
  tokens: UserTokens,
  revokeToken: (token: string, options?: CallOptions) => Promise<void>,
) => {
  const resources = async (query: ResourceQuery, options: CallOptions = {}) =>
    await withToken(tokens, options, async (signed) => await endpoints.listResources(query, signed))
  return {
    me: async (options: CallOptions = {}) => await withToken(tokens, options, endpoints.identifyUser),
    resources,
    /** Resources of all pages. A page is requested when the loop reaches it. */
    allResources: (query: Pick<ResourceQuery, 'kind'>, options?: CallOptions) =>
      everyItem(async (paging) => await resources({ ...query, ...paging }, options)),
    /** The tokens that were stored last. */
    tokens: () => tokens.current(),
    /** Ends the whole grant: none of its tokens works again. */
    revoke: async (options?: CallOptions) => await revokeToken(tokens.current().refreshToken, options),
  }
}
