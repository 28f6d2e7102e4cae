import { AppPlatformError } from './app-platform-error.ts'
import type { Resource, ResourcePage, ResourceQuery, UserIdentity } from './contract-types.ts'
import type { Endpoints } from './endpoints.ts'
import { everyItem } from './every-item.ts'
import type { CallOptions } from './transport.ts'
import type { UserTokens, UserTokenSet } from './user-tokens.ts'
import { orAborted } from './wait.ts'

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
  /** With an access token; once more with another one, if the server had ended the first before its time. */
  const withToken = async <T>(call: (bearer: string) => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const used = await orAborted(tokens.get(), signal)
    try {
      return await call(used.accessToken)
    } catch (error) {
      if (!(error instanceof AppPlatformError) || error.code !== 'invalid_token') throw error
      const { accessToken } = await orAborted(tokens.after(used), signal)
      return await call(accessToken)
    }
  }
  const resources = async (query: ResourceQuery, options: CallOptions = {}) =>
    await withToken(async (bearer) => await endpoints.listResources(query, { ...options, bearer }), options.signal)
  return {
    me: async (options = {}) =>
      await withToken(async (bearer) => await endpoints.identifyUser({ ...options, bearer }), options.signal),
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
