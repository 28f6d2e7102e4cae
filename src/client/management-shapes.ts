/** The answers of the management API. The types come from the schemas that the server checks with. */
import {
  isInteger,
  isObject,
  isText,
  isWord,
  isYesOrNo,
  listOf,
  optional,
  orNull,
  recordOf,
  type Shape,
} from './answer-shapes.ts'
import type * as contract from './contract-types.ts'

export const isPageOf = <Item>(shape: Shape<Item>): Shape<contract.Page<Item>> =>
  recordOf<contract.Page<Item>>({ data: listOf(shape), nextCursor: orNull(isText) })

export const isManagedUser = recordOf<contract.ManagedUser>({
  id: isText,
  externalId: orNull(isText),
  email: isText,
  name: isText,
  pictureUrl: orNull(isText),
  status: isWord,
  isOperator: isYesOrNo,
  hasPassword: isYesOrNo,
  createdAt: isText,
  updatedAt: isText,
})

export const isEndedAccess = recordOf<contract.EndedAccess>({
  sessions: isInteger,
  grants: optional(isInteger),
  userTokens: optional(isInteger),
  authorizationCodes: optional(isInteger),
  appTokens: optional(isInteger),
  embeddedSessions: optional(isInteger),
  installSessionCodes: optional(isInteger),
})

export const isErasedUser = recordOf<contract.ErasedUser>({ id: isText, resources: isInteger, installs: isInteger })

const isRows = listOf(isObject)
export const isPersonalData = recordOf<contract.PersonalData>({
  user: isManagedUser,
  identities: isRows,
  sessions: isRows,
  knownBrowsers: isRows,
  authenticatorApps: isRows,
  passkeys: isRows,
  passwordLinks: isRows,
  mails: isRows,
  recoveryCodes: isRows,
  grants: isRows,
  resources: isRows,
  installs: isRows,
  apps: isRows,
  memberships: isRows,
  invitations: isRows,
  audit: isRows,
})

export const isManagedResource = recordOf<contract.ManagedResource>({
  kind: isWord,
  externalId: orNull(isText),
  ownerExternalId: orNull(isText),
  name: isText,
  slug: isText,
  status: isWord,
  createdAt: isText,
  updatedAt: isText,
  publishedAt: orNull(isText),
})

export const isRemovedResource = recordOf<contract.RemovedResource>({ installs: isInteger })

export const isImportedResources = recordOf<contract.ImportedResources>({
  created: isInteger,
  updated: isInteger,
  removed: isInteger,
  installs: isInteger,
})

export const isManagedInstall = recordOf<contract.ManagedInstall>({
  id: isText,
  appId: isText,
  app: isText,
  appName: isText,
  environment: isWord,
  userExternalId: orNull(isText),
  resourceKind: isWord,
  resourceExternalId: orNull(isText),
  scope: isText,
  approval: isWord,
  state: isWord,
  createdAt: isText,
  updatedAt: isText,
})

export const isBrowserRedirect = recordOf<{ redirectTo: string }>({ redirectTo: isText })

export const isAuditPage = recordOf<contract.AuditPage>({
  data: listOf(
    recordOf<contract.AuditEvent>({
      position: isInteger,
      id: isText,
      at: isText,
      actorKind: isText,
      actorId: orNull(isText),
      appId: orNull(isText),
      environment: orNull(isText),
      action: isText,
      target: orNull(isText),
      outcome: isText,
      reason: orNull(isText),
      detail: orNull(isObject),
      requestId: isText,
      address: isText,
    }),
  ),
  next: isInteger,
})
