import type * as contract from './contract-types.ts'

/** Whether a value has the type. What a server sends is unknown until it is checked. */
export type Shape<T> = (value: unknown) => value is T

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject: Shape<JsonObject> = (value): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isText: Shape<string> = (value) => typeof value === 'string'

/** One of several words. Any word passes, since a later server may know more than this client. */
export const isWord = <T extends string>(value: unknown): value is T => typeof value === 'string'

export const isYesOrNo: Shape<boolean> = (value) => typeof value === 'boolean'

const isTrue: Shape<true> = (value) => value === true

export const isInteger: Shape<number> = (value): value is number => Number.isSafeInteger(value)

/** A lifetime that is short enough for a Date to hold its end. */
const isSeconds: Shape<number> = (value): value is number => isInteger(value) && value >= 0 && value < 2 ** 40

export const orNull =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value): value is T | null =>
    value === null || shape(value)

/** A field that may be missing. */
export const optional =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || shape(value)

export const listOf =
  <T>(shape: Shape<T>): Shape<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(shape)

/** An object with these fields. Others are ignored, since a later server may add some. */
export const recordOf =
  <T extends object>(fields: { readonly [Name in keyof Required<T>]: Shape<T[Name]> }): Shape<T> =>
  (value): value is T =>
    isObject(value) && Object.entries<Shape<unknown>>(fields).every(([name, shape]) => shape(value[name]))

// Below, each answer of the contract. The types come from the schemas that the server checks with.

export const isAppTokenAnswer = recordOf<contract.AppTokenAnswer>({
  accessToken: isText,
  tokenType: isWord,
  expiresIn: isSeconds,
  scope: isText,
  environment: isWord,
})

export const isAppIdentity = recordOf<contract.AppIdentity>({
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

const isArtifact = recordOf<NonNullable<contract.Version['artifact']>>({
  filename: isText,
  sizeBytes: isInteger,
  sha256: isText,
})
type Rejection = NonNullable<contract.Version['rejection']>
const isRejection = recordOf<Rejection>({
  message: isText,
  items: listOf(recordOf<Rejection['items'][number]>({ path: isText, message: isText })),
})

export const isVersion = recordOf<contract.Version>({
  id: isText,
  number: isInteger,
  version: isText,
  status: isWord,
  revision: isInteger,
  notes: orNull(isText),
  manifest: isObject,
  scopes: listOf(isText),
  artifact: orNull(isArtifact),
  current: recordOf<contract.Version['current']>({ development: isYesOrNo, production: isYesOrNo }),
  rejection: orNull(isRejection),
  createdAt: isText,
  updatedAt: isText,
  submittedAt: orNull(isText),
  reviewedAt: orNull(isText),
  activatedAt: orNull(isText),
})

export const isVersionPage = recordOf<contract.VersionPage>({
  data: listOf(isVersion),
  nextCursor: orNull(isText),
  current: recordOf<contract.VersionPage['current']>({ development: orNull(isText), production: orNull(isText) }),
})

export const isRollback = recordOf<contract.Rollback>({
  rollback: recordOf<contract.Rollback['rollback']>({
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

type AttemptError = NonNullable<contract.WebhookAttempt['error']>
const outcome = {
  status: orNull(isInteger),
  error: orNull<AttemptError>(isWord),
  durationMs: isInteger,
  answer: isText,
} as const

export const isWebhookEndpointPage = recordOf<contract.WebhookEndpointPage>({
  data: listOf(
    recordOf<contract.WebhookEndpoint>({
      id: isText,
      environment: isWord,
      url: isText,
      kinds: listOf(isText),
      status: isWord,
      reason: orNull<NonNullable<contract.WebhookEndpoint['reason']>>(isWord),
      failingSince: orNull(isText),
      createdAt: isText,
      updatedAt: isText,
    }),
  ),
  nextCursor: orNull(isText),
})

export const isWebhookPing = recordOf<contract.WebhookPing>({ eventId: isText, delivered: isYesOrNo, ...outcome })

export const isWebhookAttemptPage = recordOf<contract.WebhookAttemptPage>({
  data: listOf(
    recordOf<contract.WebhookAttempt>({ id: isText, eventId: isText, kind: isText, at: isText, ...outcome }),
  ),
  nextCursor: orNull(isText),
})

export const isWebhookResent = recordOf<contract.WebhookResent>({ id: isText, resent: isInteger })

export const isAuthorization = recordOf<contract.Authorization>({
  code: isText,
  state: isText,
  redirectUri: isText,
  redirectTo: isText,
  scope: isText,
  expiresIn: isSeconds,
})

export const isTokenAnswer = recordOf<contract.TokenAnswer>({
  accessToken: isText,
  tokenType: isWord,
  expiresIn: isSeconds,
  refreshToken: isText,
  refreshTokenExpiresIn: isSeconds,
  scope: isText,
  grantId: isText,
})

export const isUserIdentity = recordOf<contract.UserIdentity>({
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

export const isRevoked = recordOf<contract.Revoked>({ revoked: isTrue })

export const isResourcePage = recordOf<contract.ResourcePage>({
  kind: isWord,
  data: listOf(
    recordOf<contract.Resource>({
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

export const isIntrospection = recordOf<contract.Introspection>({
  active: isYesOrNo,
  scope: optional(isText),
  client_id: optional(isText),
  token_type: optional<'Bearer'>(isWord),
  exp: optional(isInteger),
  iat: optional(isInteger),
  sub: optional(isText),
  iss: optional(isText),
  app_id: optional(isText),
  environment: optional<contract.AppIdentity['environment']>(isWord),
  external_id: optional(isText),
  resources: optional(listOf(isText)),
})

export const isEmbeddedAnswer = recordOf<contract.EmbeddedAnswer>({
  sessionToken: isText,
  expiresIn: isSeconds,
  install: recordOf<contract.EmbeddedAnswer['install']>({
    id: isText,
    environment: isWord,
    kind: isWord,
    resource: isText,
  }),
  scope: isText,
})

export const isEmbeddedIdentity = recordOf<contract.EmbeddedIdentity>({
  id: isText,
  appId: isText,
  clientId: isText,
  installId: isText,
  scope: isText,
  expiresAt: isText,
  name: optional(isText),
  pictureUrl: optional(orNull(isText)),
  email: optional(isText),
})
