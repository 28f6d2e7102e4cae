import {
  factorAudiences,
  passwordAudiences,
  type SignInRules,
  providerProofs,
  type SignInWay,
  signInWays,
} from '../domain/sign-in-rules.ts'
import { isLoopbackHost } from '../domain/ip-address.ts'
import { Broken, choiceOf, nameOf, onOrOff, type Read } from './setting.ts'

/** How people sign in. Contradictions between the settings are faults. */
export const readSignIn = (read: Read, faults: string[]): SignInRules => {
  const faultsBefore = faults.length
  const rules: SignInRules = {
    ways: read('SIGN_IN', ['password'], waysOf),
    handoverUrl: read('SIGN_IN_URL', null, httpUrlOf),
    signOutUrl: read('SIGN_OUT_URL', null, httpUrlOf),
    passwordFor: read('PASSWORD_FOR', 'everyone', choiceOf(passwordAudiences)),
    providerName: read('OIDC_NAME', 'the identity provider', nameOf),
    createsUsers: read('OIDC_CREATE_USERS', false, onOrOff),
    linksByEmail: read('OIDC_LINK_BY_EMAIL', false, onOrOff),
    providerProof: read('OIDC_PROOF', 'auth_time', choiceOf(providerProofs)),
    secondFactorFor: read('REQUIRE_SECOND_FACTOR', 'operators', choiceOf(factorAudiences)),
    strongWays: read('STRONG_SIGN_IN', [], strongWaysOf),
    strongAcr: read('OIDC_STRONG_ACR', [], acrValuesOf),
  }
  if (faults.length > faultsBefore) return rules // what follows would blame a setting for another one
  if (rules.ways.includes('handover') && rules.handoverUrl === null) {
    faults.push('SIGN_IN names handover, which needs SIGN_IN_URL: the page of the builder that signs people in.')
  }
  if (rules.ways.length === 1 && rules.ways[0] === 'password' && rules.passwordFor !== 'everyone') {
    faults.push('PASSWORD_FOR leaves people without a way to sign in: SIGN_IN names no other.')
  }
  return rules
}

export const readIssuer = (read: Read) => read('OIDC_ISSUER', null, issuerOf)

/** The identity provider; null without one. Contradictions between the settings are faults. */
export const readIdentityProvider = (read: Read, { ways }: SignInRules, faults: string[]) => {
  const faultsBefore = faults.length
  const issuer = readIssuer(read)
  const clientId = read('OIDC_CLIENT_ID', '', textOf)
  const clientSecret = read('OIDC_CLIENT_SECRET', '', textOf)
  const clientAuth = read('OIDC_CLIENT_AUTH', null, choiceOf(['basic', 'post'] as const))
  const trustsEmail = read('OIDC_TRUST_EMAIL', false, onOrOff)
  if (!ways.includes('oidc') || faults.length > faultsBefore) return null
  if (issuer === null || clientId === '' || clientSecret === '') {
    faults.push('SIGN_IN names oidc, which needs OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET.')
    return null
  }
  return { issuer, clientId, clientSecret, clientAuth, trustsEmail }
}

const textOf = (text: string): string | Broken =>
  /^[\x21-\x7e]{1,1000}$/.test(text) ? text : new Broken('must be 1 to 1000 visible ASCII characters.')

const strongWaysOf = (text: string): readonly SignInWay[] | Broken => {
  const ways = waysOf(text)
  return ways instanceof Broken || ways.includes('password')
    ? new Broken('must be handover, oidc or both, separated by a comma.')
    : ways
}

const acrValuesOf = (text: string): readonly string[] | Broken => {
  const values = text.split(',').map((value) => value.trim())
  return values.every((value) => /^[\x21-\x7e]{1,200}$/.test(value))
    ? values
    : new Broken('must be values of the acr claim, separated by commas.')
}

const waysOf = (text: string): readonly SignInWay[] | Broken => {
  const names = text.split(',').map((name) => name.trim())
  const ways = signInWays.filter((way) => names.includes(way))
  const isKnown = names.length === ways.length
  return isKnown && names.length > 0
    ? ways.toSorted((one, other) => names.indexOf(one) - names.indexOf(other))
    : new Broken(`must be one or more of ${signInWays.join(', ')}, separated by commas.`)
}

/**
 * One provider with one set of people. Over plain HTTP, anybody on the way could sign in as anybody. At an address that all tenants of
 * Entra ID share, so could the administrator of any tenant.
 */
const issuerOf = (text: string): string | Broken => {
  const href = httpUrlOf(text)
  if (href instanceof Broken) return href
  const { protocol, hostname, pathname } = new URL(href)
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) {
    return new Broken('must begin with https://, unless the identity provider runs on this machine.')
  }
  const path = decoded(pathname).toLowerCase()
  if (path.includes('/.well-known/'))
    return new Broken('must be the issuer itself, without /.well-known/ and what follows.')
  const isOfMicrosoft = entraHosts.some((host) => `.${hostname.replace(/\.$/, '')}`.endsWith(`.${host}`))
  const isShared = isOfMicrosoft && path.split('/').some((part) => sharedTenants.has(part))
  return isShared || /[{}]/.test(decoded(href)) ? new Broken(oneTenant) : href
}
const oneTenant =
  'must name one tenant: common, organizations, consumers and a {tenantid} let the people of every tenant sign in.'
/** Of Entra ID, in all its clouds. */
const entraHosts = [
  'microsoftonline.com',
  'microsoftonline.us',
  'microsoftonline.de',
  'microsoftonline.cn',
  'chinacloudapi.cn',
  'ciamlogin.com',
  'login.microsoft.com',
  'login.windows.net',
  'sts.windows.net',
]
/** The last one is the ID of the tenant of all personal accounts. */
const sharedTenants: ReadonlySet<string> = new Set([
  'common',
  'organizations',
  'consumers',
  '9188040d-6c67-4c5b-b112-36a304b66dad',
])
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const httpUrlOf = (text: string): string | Broken => {
  const url = URL.parse(text)
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
  return isWeb && url.username === '' && url.hash === ''
    ? url.href
    : new Broken('must be a URL that begins with https:// or http://, without user and fragment.')
}
