import { passwordAudiences, type SignInRules, type SignInWay, signInWays } from '../domain/sign-in-rules.ts'
import { Broken, choiceOf, type Read } from './setting.ts'

/** How people sign in. Contradictions between the settings are faults. */
export const readSignIn = (read: Read, faults: string[]): SignInRules => {
  const rules: SignInRules = {
    ways: read('SIGN_IN', ['password'], waysOf),
    handoverUrl: read('SIGN_IN_URL', null, httpUrlOf),
    signOutUrl: read('SIGN_OUT_URL', null, httpUrlOf),
    passwordFor: read('PASSWORD_FOR', 'everyone', choiceOf(passwordAudiences)),
  }
  if (rules.ways.includes('handover') && rules.handoverUrl === null) {
    faults.push('SIGN_IN names handover, which needs SIGN_IN_URL: the page of the builder that signs people in.')
  }
  if (!rules.ways.includes('handover') && rules.passwordFor !== 'everyone') {
    faults.push('PASSWORD_FOR leaves people without a way to sign in: SIGN_IN names no other.')
  }
  return rules
}

const waysOf = (text: string): readonly SignInWay[] | Broken => {
  const names = text.split(',').map((name) => name.trim())
  const ways = signInWays.filter((way) => names.includes(way))
  const isKnown = names.length === ways.length
  return isKnown && names.length > 0
    ? ways.toSorted((one, other) => names.indexOf(one) - names.indexOf(other))
    : new Broken(`must be one or more of ${signInWays.join(', ')}, separated by commas.`)
}

const httpUrlOf = (text: string): string | Broken => {
  const url = URL.parse(text)
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
  return isWeb && url.username === '' && url.hash === ''
    ? url.href
    : new Broken('must be a URL that begins with https:// or http://, without user and fragment.')
}
