import type { Credential } from '../../../db/database.ts'
import { type CredentialStatus, credentialStatus } from '../../domain/credential.ts'
import type { Environment } from '../../domain/app.ts'

/** A client secret as its owner sees it later: everything but the secret. */
export type CredentialRecord = {
  readonly id: string
  readonly clientId: string
  readonly environment: Environment
  readonly label: string | null
  readonly status: CredentialStatus
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}
/** The answer to its creation: the only place where the secret is ever shown. */
export type NewCredentialRecord = CredentialRecord & { readonly clientSecret: string }

/** The record of a row, alive or ended at `now` (epoch milliseconds). */
export const credentialRecord = (row: Credential, environment: Environment, now: number): CredentialRecord => ({
  id: row.id,
  clientId: row.clientId,
  environment,
  label: row.label,
  status: credentialStatus(row, now),
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  revokedAt: row.revokedAt,
  lastUsedAt: row.lastUsedAt,
})
