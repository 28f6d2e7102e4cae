import { cookieName, type CookieStem } from '../../src/http/cookies.ts'

/** The name of a cookie at a server whose public address is this one, or has its port. */
export const cookieNamed = (url: string, stem: CookieStem): string =>
  cookieName({ platform: { publicUrl: new URL(url).origin } }, stem)

/** The Cookie header of a browser with this session. */
export const sessionCookieOf = (url: string, token: string): string => `${cookieNamed(url, 'session')}=${token}`
