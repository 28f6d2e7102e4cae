import type { ServingProcess } from '../../bench/processes.ts'

/** One client, and live tokens of it. */
export type Material = {
  readonly client: { readonly id: string; readonly secret: string; readonly redirectUri: string }
  readonly appTokens: readonly string[]
  /** Access tokens of users, for the endpoint that identifies the user. */
  readonly userTokens: readonly string[]
  readonly refreshTokens: readonly string[]
}

/** A server with a filled file, ready to start. */
export type Prepared = {
  readonly material: Material
  /** Its file, or the URL of its PostgreSQL database. */
  readonly database: string
  /** Fresh codes for `verifier`, each of its own grant. */
  codes(count: number): Promise<readonly string[]>
  start(): Promise<ServingProcess>
  /** The same server as one executable file; null if it has none. */
  startExecutable: (() => Promise<ServingProcess>) | null
  close(): Promise<void>
}

/** A server that is compared. All speak RFC 6749 and 7662 in forms, so that each gets the same requests. */
export type Contender = {
  readonly name: string
  readonly paths: { readonly token: string; readonly introspect: string; readonly who: string }
  /** More than it can exchange in a second, because every exchange needs its own code. */
  readonly codesPerSecond: number
  /** As the table says it. */
  readonly keepsTokensAs: string
  /** `url`: of an empty PostgreSQL database, or null for a file in the folder. */
  prepare(folder: string, live: number, url: string | null): Promise<Prepared>
}

export const appScope = 'site:read store:read'
