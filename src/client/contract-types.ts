/** The requests and answers of the contract. The types are derived from the schemas that the server checks with. */
import type { Static } from '@sinclair/typebox'
import type * as oauth from '../http/contract/oauth.ts'
import type { resourceList } from '../http/contract/resources.ts'
import type * as versions from '../http/contract/versions.ts'

export type AppTokenRequest = Static<typeof oauth.appTokenRequest>
export type AppTokenAnswer = Static<typeof oauth.appTokenResponse>
export type AppIdentity = Static<typeof oauth.appIdentity>

export type Version = Static<typeof versions.versionRecord>
export type VersionPage = Static<typeof versions.versionList>
/** The fields of an upload, without those that the server refuses. */
export type VersionUpload = Omit<Static<typeof versions.versionUpload>, (typeof versions.forbiddenUploadFields)[number]>
export type RollbackRequest = Static<typeof versions.rollbackRequest>
export type Rollback = Static<typeof versions.rollbackResponse>

export type AuthorizeRequest = Static<typeof oauth.authorizeRequest>
export type Authorization = Static<typeof oauth.authorizeResponse>
export type TokenRequest = Static<typeof oauth.tokenRequest>
export type TokenAnswer = Static<typeof oauth.tokenResponse>
export type UserIdentity = Static<typeof oauth.userIdentity>
export type RevokeRequest = Static<typeof oauth.revokeRequest>
export type Revoked = Static<typeof oauth.revokeResponse>

export type ResourcePage = Static<typeof resourceList>
export type Resource = ResourcePage['data'][number]

export type Paging = { readonly limit?: number; readonly cursor?: string }
export type VersionQuery = Paging & Pick<Static<typeof versions.versionListQuery>, 'status'>
export type ResourceQuery = Paging & { readonly kind: ResourcePage['kind'] }
