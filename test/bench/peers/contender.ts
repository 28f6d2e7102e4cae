import type { ServingProcess } from '../processes.ts'

/** One client, and live tokens of it. */
export type Material = {
  readonly client: { readonly id: string; readonly secret: string; readonly redirectUri: string }
  readonly appTokens: readonly string[]
  /** Access tokens of users, good for the endpoint that says who they are. */
  readonly userTokens: readonly string[]
  readonly refreshTokens: readonly string[]
}

/** A server on a file that is filled, ready to be started. */
export type Prepared = {
  readonly material: Material
  readonly databaseFile: string
  /** Codes that were never exchanged, each of a grant of its own, for `verifier`. */
  codes(count: number): Promise<readonly string[]>
  start(): Promise<ServingProcess>
  /** The same server as one executable file, where there is one. */
  startExecutable: (() => Promise<ServingProcess>) | null
  close(): Promise<void>
}

/** Whoever is compared. All speak RFC 6749 and 7662 in forms, so that the same requests go to each. */
export type Contender = {
  readonly name: string
  readonly paths: { readonly token: string; readonly introspect: string; readonly who: string }
  /** More than it can exchange in a second; an exchange needs a code of its own. */
  readonly codesPerSecond: number
  /** In the words of the table. */
  readonly keepsTokensAs: string
  prepare(folder: string, live: number): Promise<Prepared>
}

export const appScope = 'site:read store:read'
