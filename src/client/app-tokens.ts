import type { AppTokenAnswer } from './contract-types.ts'
import type { TokenSource } from './with-token.ts'

/** An app token as it is held. */
export type AppToken = Pick<AppTokenAnswer, 'accessToken' | 'scope' | 'environment'> & { readonly expiresAt: Date }

type Held = { readonly token: AppToken; readonly renewAt: number }

/**
 * Holds one app token and renews it before it expires. Whoever asks while a new one is on its way waits for that one.
 * If a new one is not to be had, the old one is used for as long as it lives.
 */
export const createAppTokens = (
  issue: () => Promise<AppTokenAnswer>,
  now: () => number = () => Date.now(),
): TokenSource<AppToken> => {
  let held: Held | null = null
  let coming: Promise<AppToken> | null = null

  const renew = async (): Promise<AppToken> => {
    const askedAt = now() // its life began before the answer came
    try {
      held = heldFrom(await issue(), askedAt)
      return held.token
    } catch (error) {
      if (held !== null && now() < held.token.expiresAt.getTime()) return held.token
      throw error
    } finally {
      coming = null
    }
  }
  const get = async (): Promise<AppToken> => {
    if (held !== null && now() < held.renewAt) return held.token
    coming ??= renew()
    return await coming
  }
  return {
    get,
    after: async (spent) => {
      if (held?.token.accessToken === spent.accessToken) held = null
      return await get()
    },
  }
}

/** Renewed a minute before its end; one that lives for minutes only, a tenth of its life before. */
const heldFrom = ({ accessToken, scope, environment, expiresIn }: AppTokenAnswer, askedAt: number): Held => {
  const lifeMs = expiresIn * 1000
  const expiresAt = askedAt + lifeMs
  const token = { accessToken, scope, environment, expiresAt: new Date(expiresAt) }
  return { token, renewAt: expiresAt - Math.min(60_000, lifeMs / 10) }
}
