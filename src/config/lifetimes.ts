import { type Lifetimes, maximumLifetimes } from '../domain/lifetimes.ts'
import { type Faults, type Find, wholeNumber } from './setting.ts'

const names = {
  code: 'LIFETIME_CODE',
  appToken: 'LIFETIME_APP_TOKEN',
  accessToken: 'LIFETIME_ACCESS_TOKEN',
  refreshToken: 'LIFETIME_REFRESH_TOKEN',
  session: 'LIFETIME_SESSION',
  sessionIdle: 'LIFETIME_SESSION_IDLE',
  grant: 'LIFETIME_GRANT',
  installSessionCode: 'LIFETIME_INSTALL_SESSION_CODE',
  embeddedSession: 'LIFETIME_EMBEDDED_SESSION',
} as const satisfies Record<keyof Lifetimes, string>

/** How long each secret lives, in seconds: as long as may be, or shorter. */
export const readLifetimes = (find: Find, faults: Faults): Lifetimes => {
  const lifetime = (kind: keyof Lifetimes): number => {
    const longest = maximumLifetimes[kind]
    const setting = find(names[kind])
    if (setting === null) return longest
    const seconds = wholeNumber(setting.text, 1, longest)
    if (seconds !== null) return seconds
    faults.push(`${setting.name} must be whole seconds from 1 to ${longest}: it may shorten, not lengthen.`)
    return longest
  }
  return {
    code: lifetime('code'),
    appToken: lifetime('appToken'),
    accessToken: lifetime('accessToken'),
    refreshToken: lifetime('refreshToken'),
    session: lifetime('session'),
    sessionIdle: lifetime('sessionIdle'),
    grant: lifetime('grant'),
    installSessionCode: lifetime('installSessionCode'),
    embeddedSession: lifetime('embeddedSession'),
  }
}
