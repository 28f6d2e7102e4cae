/** The requests and answers of the contract. The types are derived from the schemas that the server checks with. */
import type { Static } from '@sinclair/typebox'
import type {
  appIdentity,
  appTokenRequest,
  appTokenResponse,
  authorizeRequest,
  authorizeResponse,
  revokeRequest,
  revokeResponse,
  tokenRequest,
  tokenResponse,
  userIdentity,
} from '../http/contract/oauth.ts'
import type { resourceList } from '../http/contract/resources.ts'
import type {
  forbiddenUploadFields,
  rollbackRequest,
  rollbackResponse,
  versionList,
  versionListQuery,
  versionRecord,
  versionUpload,
} from '../http/contract/versions.ts'

export type AppTokenRequest = Static<typeof appTokenRequest>
export type AppTokenAnswer = Static<typeof appTokenResponse>
export type AppIdentity = Static<typeof appIdentity>

export type Version = Static<typeof versionRecord>
export type VersionPage = Static<typeof versionList>
/** The fields of an upload, without those that the server refuses. */
export type VersionUpload = Omit<Static<typeof versionUpload>, (typeof forbiddenUploadFields)[number]>
export type RollbackRequest = Static<typeof rollbackRequest>
export type Rollback = Static<typeof rollbackResponse>

export type AuthorizeRequest = Static<typeof authorizeRequest>
export type Authorization = Static<typeof authorizeResponse>
export type TokenRequest = Static<typeof tokenRequest>
export type TokenAnswer = Static<typeof tokenResponse>
export type UserIdentity = Static<typeof userIdentity>
export type RevokeRequest = Static<typeof revokeRequest>
export type Revoked = Static<typeof revokeResponse>

export type ResourcePage = Static<typeof resourceList>
export type Resource = ResourcePage['data'][number]

type Paging = { readonly limit?: number; readonly cursor?: string }
export type VersionQuery = Paging & Pick<Static<typeof versionListQuery>, 'status'>
export type ResourceQuery = Paging & { readonly kind: ResourcePage['kind'] }
