import { openBytes, sealBytes, sealNonceBytes } from '../domain/sealed-text.ts'
import type { Platform } from '../operations/platform.ts'

// What a page will need again is given to the browser, in a cookie or a form, and so nothing is stored for pages that are left. It is
// sealed: only this server can read it or make it, for this browser and this place. It says when it was sealed, and ages.

/** What something is sealed for. The secret is one that only this browser sends: its session token or its visit cookie. */
export type SealedFor = {
  readonly door: { readonly serverKey: Uint8Array; readonly platform: Pick<Platform, 'clock' | 'random'> }
  readonly secret: string
  readonly place: string
}

/** For a session. */
export const ofSession = (
  { door, sessionToken }: Pick<SealedFor, 'door'> & { readonly sessionToken: string },
  place: string,
): SealedFor => ({ door, secret: sessionToken, place })

const purposeOf = ({ door, secret, place }: SealedFor) => ({ server: door.serverKey, browser: secret, place })

const timeBytes = 6

/** `at` is the time from which its age counts, now by default. */
export const seal = (
  whom: SealedFor,
  content: string | Uint8Array = '',
  at = whom.door.platform.clock.now(),
): string => {
  const { random } = whom.door.platform
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const time = Buffer.alloc(timeBytes)
  time.writeUIntBE(at, 0, timeBytes)
  return sealBytes(purposeOf(whom), Buffer.concat([time, bytes]), random.bytes(sealNonceBytes))
}

/** What was sealed for this purpose less than so long ago, and when; null for anything else. */
export const unseal = (
  whom: SealedFor,
  sealed: string,
  lifetimeSeconds: number,
): { readonly at: number; readonly content: Buffer } | null => {
  const bytes = openBytes(purposeOf(whom), sealed)
  if (bytes === null) return null
  const at = bytes.readUIntBE(0, timeBytes)
  const isYoung = whom.door.platform.clock.now() - at < lifetimeSeconds * 1000
  return isYoung ? { at, content: bytes.subarray(timeBytes) } : null
}
