/** What each answer of the contract looks like. The types hold every field to the schema that the server checks with. */
import type {
  AppIdentity,
  AppTokenAnswer,
  Authorization,
  Resource,
  ResourcePage,
  Revoked,
  Rollback,
  TokenAnswer,
  UserIdentity,
  Version,
  VersionPage,
} from './contract-types.ts'
import {
  isInteger,
  isObject,
  isSeconds,
  isText,
  isTrue,
  isWord,
  isYesOrNo,
  listOf,
  optional,
  orNull,
  recordOf,
  type Shape,
} from './shape.ts'

export const isAppTokenAnswer: Shape<AppTokenAnswer> = recordOf<AppTokenAnswer>({
  accessToken: isText,
  tokenType: isWord,
  expiresIn: isSeconds,
  scope: isText,
  environment: isWord,
})

export const isAppIdentity: Shape<AppIdentity> = recordOf<AppIdentity>({
  appId: isText,
  clientId: isText,
  name: isText,
  slug: isText,
  environment: isWord,
  status: isWord,
  scope: isText,
  expiresAt: isText,
  createdAt: isText,
})

const isArtifact = recordOf<NonNullable<Version['artifact']>>({
  filename: isText,
  sizeBytes: isInteger,
  sha256: isText,
})
type Rejection = NonNullable<Version['rejection']>
const isRejection = recordOf<Rejection>({
  message: isText,
  items: listOf(recordOf<Rejection['items'][number]>({ path: isText, message: isText })),
})

export const isVersion: Shape<Version> = recordOf<Version>({
  id: isText,
  number: isInteger,
  version: isText,
  status: isWord,
  revision: isInteger,
  notes: orNull(isText),
  manifest: isObject,
  scopes: listOf(isText),
  artifact: orNull(isArtifact),
  current: recordOf<Version['current']>({ development: isYesOrNo, production: isYesOrNo }),
  rejection: orNull(isRejection),
  createdAt: isText,
  updatedAt: isText,
  submittedAt: orNull(isText),
  reviewedAt: orNull(isText),
  activatedAt: orNull(isText),
})

export const isVersionPage: Shape<VersionPage> = recordOf<VersionPage>({
  data: listOf(isVersion),
  nextCursor: orNull(isText),
  current: recordOf<VersionPage['current']>({ development: orNull(isText), production: orNull(isText) }),
})

export const isRollback: Shape<Rollback> = recordOf<Rollback>({
  rollback: recordOf<Rollback['rollback']>({
    id: orNull(isText),
    environment: isWord,
    fromVersionId: isText,
    toVersionId: isText,
    reason: orNull(isText),
    dryRun: isYesOrNo,
    createdAt: isText,
  }),
  version: isVersion,
  distributionChanged: isYesOrNo,
})

export const isAuthorization: Shape<Authorization> = recordOf<Authorization>({
  code: isText,
  state: isText,
  redirectUri: isText,
  redirectTo: isText,
  scope: isText,
  expiresIn: isSeconds,
})

export const isTokenAnswer: Shape<TokenAnswer> = recordOf<TokenAnswer>({
  accessToken: isText,
  tokenType: isWord,
  expiresIn: isSeconds,
  refreshToken: isText,
  refreshTokenExpiresIn: isSeconds,
  scope: isText,
  grantId: isText,
})

export const isUserIdentity: Shape<UserIdentity> = recordOf<UserIdentity>({
  id: isText,
  appId: isText,
  clientId: isText,
  grantId: isText,
  scope: isText,
  expiresAt: isText,
  name: optional(isText),
  pictureUrl: optional(orNull(isText)),
  email: optional(isText),
})

export const isRevoked: Shape<Revoked> = recordOf<Revoked>({ revoked: isTrue })

export const isResourcePage: Shape<ResourcePage> = recordOf<ResourcePage>({
  kind: isWord,
  data: listOf(
    recordOf<Resource>({
      name: isText,
      slug: isText,
      status: isWord,
      createdAt: isText,
      updatedAt: isText,
      publishedAt: orNull(isText),
    }),
  ),
  nextCursor: orNull(isText),
})
