import { TOTP, Secret } from 'otpauth'
import { addAuthenticatorApp } from '../../src/operations/factors/change-factors.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { trace } from './operator.ts'
import { signIn } from './sign-in.ts'
import type { Login } from './world.ts'

/** The code that an authenticator app shows: now, or some steps of 30 seconds later. */
export const totpCode = (key: Uint8Array, now: number, steps = 0): string =>
  new TOTP({ secret: new Secret({ buffer: new Uint8Array(key).buffer }) }).generate({ timestamp: now + steps * 30_000 })

/** The key that a page shows as text. */
export const keyFromText = (text: string): Uint8Array => Secret.fromBase32(text.replaceAll(' ', '')).bytes

/** Sets up an authenticator app. The code of the current step is used up; that of the next one works already. */
export const addTotp = async (platform: Platform, login: Pick<Login, 'email' | 'password'>) => {
  const { sessionToken } = await signIn(platform, trace, login)
  const caller = await authenticateSession(platform, sessionToken)
  if (caller === null) throw new Error('There is no session.')
  const key = crypto.getRandomValues(new Uint8Array(20))
  const code = totpCode(key, platform.clock.now())
  return { key, codes: await addAuthenticatorApp(platform, trace, caller, { key, code }) }
}
