import { recordId } from '../../src/domain/identifier.ts'
import { type TimeKey, uuidHexOfTimeKey } from '../../src/domain/time-key.ts'
import { clients } from '../tables/sqlite.ts'
import type { AppToken } from './app-tokens.ts'
import type { Client } from './apps.ts'
import type { AuditEvent } from './audit.ts'

/** The columns that say who was issued a token. */
export const issuer = { clientId: clients.id, environment: clients.environment, appId: clients.appId }
type Issuer = Pick<Client, 'environment' | 'appId'> & { readonly clientId: string }
type Issued = Pick<AppToken, 'createdAt' | 'scopes' | 'requestId' | 'address'> & IssueKey
type IssueKey = { readonly key: TimeKey; readonly uuid: Uint8Array | null }

/** The only actions that an issued token can tell of. */
export type IssueAction = 'app_token.issued' | 'user_tokens.issued'

/** The ID of the event that the row of an issued token is: made of its key, or of the UUID that was its key before. */
export const issueId = ({ key, uuid }: IssueKey): string =>
  uuid === null ? `aud_${uuidHexOfTimeKey(key)}` : recordId('aud_', uuid)

/** What the row of an issued token says, in the form of an event. */
export const issuedEvent = (action: IssueAction, by: Issuer, issued: Issued, target: string): AuditEvent => ({
  id: issueId(issued),
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
