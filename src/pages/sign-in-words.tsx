import { otherSite } from '../domain/sign-in-rules.ts'
import type { Visit } from './visit.ts'

/** How this person signs in, in sentences: with a password, at another site, or with a passkey alone. */
export const signInWords = ({ door: { platform }, session: { user } }: Visit) => {
  const site = otherSite(platform.signIn, platform.builder?.name ?? null, user.isOperator)
  if (!user.hasPassword && site === null) {
    return {
      first: 'your passkey',
      alone: 'your passkey alone is',
      stolen: 'somebody who takes your passkey still cannot sign in',
      secure: <>remove the passkeys that you do not know</>,
      email: 'You receive emails there.',
    }
  }
  return user.hasPassword
    ? {
        first: 'your password',
        alone: 'your password alone is',
        stolen: 'somebody who learns your password still cannot sign in',
        secure: <a href="/account/password">change your password</a>,
        email: 'You sign in with it and receive emails there.',
      }
    : {
        first: `your account at ${site}`,
        alone: `your account at ${site} alone is`,
        stolen: `somebody who gets into your account at ${site} still cannot sign in here`,
        secure: <>secure your account at {site}</>,
        email: 'You receive emails there.',
      }
}
