/** The ways in which people sign in; the first one is used unless a person chooses another. */
export const signInWays = ['password', 'handover'] as const
export type SignInWay = (typeof signInWays)[number]

/** Who may sign in with a password stored here. */
export const passwordAudiences = ['everyone', 'operators', 'nobody'] as const

export type SignInRules = {
  readonly ways: readonly SignInWay[]
  /** Where the builder takes over: people are sent there to sign in. */
  readonly handoverUrl: string | null
  /** Where people are sent after they have signed out; null: to the sign-in page. */
  readonly signOutUrl: string | null
  readonly passwordFor: (typeof passwordAudiences)[number]
}

export const passwordOnly: SignInRules = {
  ways: ['password'],
  handoverUrl: null,
  signOutUrl: null,
  passwordFor: 'everyone',
}

/** Whether a password opens an account of this kind. */
export const mayUsePassword = ({ ways, passwordFor }: SignInRules, isOperator: boolean): boolean => {
  if (isOperator) return passwordFor !== 'nobody' // or nobody could sign in while the builder is down
  return ways.includes('password') && passwordFor === 'everyone'
}

/** Whether the sign-in page has a form for passwords at all. */
export const hasPasswordForm = (rules: SignInRules): boolean => mayUsePassword(rules, true)
