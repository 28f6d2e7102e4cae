import type { Session } from '../../../db/database.ts'
import { rowKey } from '../../domain/identifier.ts'
import { hashSecret, mintSecret, secretDigits } from '../../domain/secret.ts'
import type { Platform, Trace } from '../platform.ts'

export type MintedSession = {
  readonly sessionToken: string
  readonly expiresAt: number
  /** The row for the user that it turns out to be; of the token it holds the hash. */
  rowFor(userId: string, agent: string | null): Session
}

/** A fresh session that nobody has yet, drawn before the transaction that stores it. `now` is epoch milliseconds. */
export const mintSession = (platform: Platform, trace: Trace, now: number): MintedSession => {
  const key = rowKey(platform.random.uuid(now))
  const sessionToken = mintSecret({ kind: 'session', key, digits: platform.random.digits(secretDigits) })
  const hash = hashSecret(sessionToken)
  const expiresAt = now + platform.lifetimes.session * 1000
  const { address } = trace
  return {
    sessionToken,
    expiresAt,
    rowFor: (userId, agent) => ({
      key,
      hash,
      userId,
      createdAt: now,
      expiresAt,
      endedAt: null,
      address,
      agent,
      lastUsedAt: null,
    }),
  }
}
