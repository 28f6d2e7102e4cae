// Why somebody who comes from an identity provider is not signed in: what the log and the audit log call it, and what the person reads.

import { mayUsePassword, type SignInRules } from './sign-in-rules.ts'

type Words = {
  /** The name of the provider on the pages. */
  readonly provider: string
  /** The error that it answered with; `unknown` without one that can be shown. */
  readonly code: string
  /** What operators can do meanwhile, with a space before; nothing if they have no passwords. */
  readonly operators: string
}

const askOperator = 'Ask the operator of this server.'
const nothingChanged = 'Nothing was changed.'

/** What the person reads of each cause, which the audit log and the log have by its name. */
const says = {
  // What comes back is not for this browser, or the person or the provider ended it.
  not_begun_here: () => `It may have taken too long, or it was begun in another browser. ${nothingChanged}`,
  cancelled: ({ provider, code }) =>
    `You cancelled, or ${provider} refused to let you in here (${code}). ${nothingChanged}`,
  interaction_needed: ({ provider, code }) =>
    `${provider} did not sign you in, because it needs something from you first (${code}). Sign in there, then try again here.`,
  proof_refused: ({ provider, code }) =>
    `${provider} refused to ask you to sign in again (${code}). You are still signed in here as before. ${askOperator}`,
  provider_error: ({ provider, code }) => `${provider} answered with an error (${code}). ${nothingChanged}`,
  code_refused: ({ provider, code }) =>
    `${provider} no longer accepts this sign-in (${code}): it took too long, or it was used before. ${nothingChanged}`,
  // The provider and this server do not understand each other.
  client_refused: ({ provider, code }) =>
    `${provider} does not accept this server as its client (${code}). ${askOperator}`,
  provider_unreachable: ({ provider, operators }) =>
    `${provider} cannot sign you in right now. Try again in a moment.${operators}`,
  provider_broken: ({ provider, operators }) =>
    `${provider} gave an answer that this server cannot use. ${askOperator}${operators}`,
  issuer_differs: ({ provider }) => `The answer is not from ${provider}, but from another issuer. ${askOperator}`,
  clock_differs: ({ provider }) =>
    `The answer of ${provider} has expired or is from the future: its clock and the clock of this server differ by more than a minute. ${askOperator}`,
  answer_invalid: ({ provider }) => `The answer of ${provider} is not valid for this sign-in. ${nothingChanged}`,
  subject_invalid: ({ provider }) =>
    `${provider} names you by an ID that is not 1 to 255 ASCII characters, so you cannot be told apart from others. ${askOperator}`,
  // It is known who the person is, and no account is theirs.
  email_missing: ({ provider }) =>
    `There is no account here for you yet, and ${provider} gave no email address of yours that can be used here. ${askOperator}`,
  email_unverified: ({ provider }) =>
    `There is no account here for you yet. ${provider} gave your email address, but ${provider} does not say that this address is yours: confirm it there, or ask the operator of this server.`,
  no_account: ({ provider }) =>
    `There is no account here for you yet: the account of your email address is not linked to ${provider}. ${askOperator}`,
  account_of_other_subject: ({ provider }) =>
    `There is no account here for you yet: the account of your email address is linked to somebody else at ${provider}. ${askOperator}`,
  unlinked: ({ provider }) => `Your account at ${provider} was unlinked from your account here. ${askOperator}`,
  creation_off: () => 'There is no account here for you yet: ask the operator of this server.',
  disabled: () => 'Your account is disabled: ask the operator of this server.',
} as const satisfies Readonly<Record<string, (words: Words) => string>>

export type SignInCause = keyof typeof says
const isCause = (value: unknown): value is SignInCause => typeof value === 'string' && Object.hasOwn(says, value)
export const signInCauses: readonly SignInCause[] = Object.keys(says).filter(isCause)

/** Those that are an error of the provider. The audit log has that error instead of the cause. */
const errorsOfProvider: ReadonlySet<SignInCause> = new Set([
  'cancelled',
  'interaction_needed',
  'proof_refused',
  'provider_error',
  'code_refused',
  'client_refused',
])

/** Whether nobody could sign in now, and not only this person. */
export const isOutage = (cause: SignInCause): boolean =>
  cause === 'client_refused' || cause === 'provider_unreachable' || cause === 'provider_broken'

/** Whether the provider is the cause, for its event in the log. */
export const isOfProvider = (cause: SignInCause): boolean => cause !== 'client_refused' && isOutage(cause)

/** Why nobody was signed in: the cause, and the error of the provider where it is one. */
export type SignInFault = { readonly kind: SignInCause; readonly code: string | null }

/** The fault that a refusal has in its details; null for another refusal. */
export const signInFaultIn = (details: Readonly<Record<string, unknown>> = {}): SignInFault | null => {
  const { kind, code } = details
  return isCause(kind) ? { kind, code: typeof code === 'string' ? code : null } : null
}

/** The reason that the audit log has. */
export const auditReasonOf = ({ kind, code }: SignInFault): string =>
  errorsOfProvider.has(kind) ? `provider_error:${code ?? 'unknown'}` : kind

/** What the person reads. */
export const sentenceOf = (
  { kind, code }: SignInFault,
  rules: Pick<SignInRules, 'providerName' | 'ways' | 'passwordFor'>,
): string =>
  says[kind]({
    provider: rules.providerName,
    code: code ?? 'unknown',
    operators: mayUsePassword(rules, true) ? ' Operators can sign in with their password.' : '',
  })

/** What the `error` of an authorization response means (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6). */
export const causeOfAnswer = (code: string, isProof: boolean): SignInCause => {
  if (code === 'access_denied') return 'cancelled'
  if (passing.has(code)) return 'provider_unreachable'
  if (isProof) return 'proof_refused'
  return interactions.has(code) ? 'interaction_needed' : 'provider_error'
}
const interactions: ReadonlySet<string> = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
])

const passing: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable'])

/** What the `error` of another endpoint means (RFC 6749 section 5.2), of an answer with this status. */
export const causeOfRefusal = (code: string, status: number): SignInCause => {
  if (code === 'invalid_grant') return 'code_refused'
  if (code === 'invalid_client' || code === 'unauthorized_client') return 'client_refused'
  return isPassing(status) || passing.has(code) ? 'provider_unreachable' : 'provider_error'
}

/** Whether a provider that answers so may answer in a moment (RFC 9110 sections 15.5.9 and 15.6, RFC 6585 section 4). */
export const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500
