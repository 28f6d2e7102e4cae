import type { AppInstallQuery, ResourceQuery } from './contract-types.ts'
import { type BearerOptions, type Endpoints, everyItem } from './endpoints.ts'
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
    allResources: (query: Omit<ResourceQuery, 'limit' | 'cursor'>, options?: CallOptions) =>
      everyItem(async (paging) => await resources({ ...query, ...paging }, options)),
    /** The user's installs of the app. */
    installs: installsOf(endpoints, async (call, ask) => await withToken(tokens, call, ask)),
    /** The tokens that were stored last. */
    tokens: () => tokens.current(),
    /** Ends the whole grant: none of its tokens works again. */
    revoke: async (options?: CallOptions) => await revokeToken(tokens.current().refreshToken, options),
  }
}

/** The installs that a token sees. `signed` makes a call with it. */
export const installsOf = (
  endpoints: Endpoints,
  signed: <T>(call: CallOptions, ask: (options: BearerOptions) => Promise<T>) => Promise<T>,
) => {
  const list = async (query: AppInstallQuery = {}, call: CallOptions = {}) =>
    await signed(call, async (options) => await endpoints.listInstalls(query, options))
  return {
    list,
    /** Installs of all pages, oldest first. A page is requested when the loop reaches it. */
    all: (query: Omit<AppInstallQuery, 'limit' | 'cursor'> = {}, call?: CallOptions) =>
      everyItem(async (paging) => await list({ ...query, ...paging }, call)),
    get: async (id: string, call: CallOptions = {}) =>
      await signed(call, async (options) => await endpoints.readInstall(id, options)),
  }
}
