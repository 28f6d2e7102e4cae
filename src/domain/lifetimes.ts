/** Lifetimes in whole seconds (contract section 5). Settings may shorten them, never lengthen them. */
export const maximumLifetimes = {
  code: 300,
  appToken: 3_600,
  accessToken: 3_600,
  refreshToken: 30 * 24 * 3_600,
  session: 12 * 3_600,
  /** Between two uses of a session. */
  sessionIdle: 2 * 3_600,
  /** Of a grant, however often it is refreshed. */
  grant: 365 * 24 * 3_600,
  installSessionCode: 60,
  embeddedSession: 600,
} as const
export type Lifetimes = Readonly<Record<keyof typeof maximumLifetimes, number>>
