import { recordIdOfKey } from '../../src/domain/identifier.ts'
import { clients } from '../tables/sqlite.ts'
import type { AppToken } from './app-tokens.ts'
import type { Client } from './apps.ts'
import type { AuditEvent } from './audit.ts'

/** The columns that say who was issued a token. */
export const issuer = { clientId: clients.id, environment: clients.environment, appId: clients.appId }
type Issuer = Pick<Client, 'environment' | 'appId'> & { readonly clientId: string }
type Issued = Pick<AppToken, 'key' | 'createdAt' | 'scopes' | 'requestId' | 'address'>

/** The only actions that an issued token can tell of. */
export type IssueAction = 'app_token.issued' | 'user_tokens.issued'

/** What the row of an issued token says, in the form of an event; the token's own UUID is the ID of it. */
export const issuedEvent = (action: IssueAction, by: Issuer, issued: Issued, target: string): AuditEvent => ({
  id: recordIdOfKey('aud_', issued.key),
  at: issued.createdAt,
  actorKind: 'app',
  actorId: by.clientId,
  appId: by.appId,
  environment: by.environment,
  action,
  target,
  outcome: 'done',
  reason: null,
  detail: JSON.stringify({ scope: issued.scopes }),
  requestId: issued.requestId,
  address: issued.address,
})
