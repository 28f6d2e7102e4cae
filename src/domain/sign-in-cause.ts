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

type Row = {
  /** The event in the log; its `kind` is the cause. */
  readonly log: 'provider.refused' | 'provider.unreachable'
  /** The reason in the audit log. `provider_error` is followed by the error. */
  readonly audit: string
  /** Of the page: whether the person is refused, or nobody could sign in now. */
  readonly status: 400 | 503
  readonly says: (words: Words) => string
}

const askOperator = 'Ask the operator of this server.'
const nothingChanged = 'Nothing was changed.'

const refused = (audit: string, says: Row['says']): Row => ({ log: 'provider.refused', audit, status: 400, says })
const broken = (log: Row['log'], audit: string, says: Row['says']): Row => ({ log, audit, status: 503, says })

const rows = {
  // What comes back is not for this browser, or the person or the provider ended it.
  not_begun_here: refused(
    'not_begun_here',
    () => `It may have taken too long, or it was begun in another browser. ${nothingChanged}`,
  ),
  cancelled: refused(
    'provider_error',
    ({ provider, code }) => `You cancelled, or ${provider} refused to let you in here (${code}). ${nothingChanged}`,
  ),
  interaction_needed: refused(
    'provider_error',
    ({ provider, code }) =>
      `${provider} did not sign you in, because it needs something from you first (${code}). Sign in there, then try again here.`,
  ),
  proof_refused: refused(
    'provider_error',
    ({ provider, code }) =>
      `${provider} refused to ask you to sign in again (${code}). You are still signed in here as before. ${askOperator}`,
  ),
  provider_error: refused(
    'provider_error',
    ({ provider, code }) => `${provider} answered with an error (${code}). ${nothingChanged}`,
  ),
  code_refused: refused(
    'provider_error',
    ({ provider, code }) =>
      `${provider} no longer accepts this sign-in (${code}): it took too long, or it was used before. ${nothingChanged}`,
  ),
  // The provider and this server do not understand each other.
  client_refused: broken(
    'provider.refused',
    'provider_error',
    ({ provider, code }) => `${provider} does not accept this server as its client (${code}). ${askOperator}`,
  ),
  provider_unreachable: broken(
    'provider.unreachable',
    'provider_unreachable',
    ({ provider, operators }) => `${provider} cannot sign you in right now. Try again in a moment.${operators}`,
  ),
  provider_broken: broken(
    'provider.unreachable',
    'provider_broken',
    ({ provider, operators }) => `${provider} gave an answer that this server cannot use. ${askOperator}${operators}`,
  ),
  issuer_differs: refused(
    'issuer_differs',
    ({ provider }) => `The answer is not from ${provider}, but from another issuer. ${askOperator}`,
  ),
  clock_differs: refused(
    'clock_differs',
    ({ provider }) =>
      `The answer of ${provider} has expired or is from the future: its clock and the clock of this server differ by more than a minute. ${askOperator}`,
  ),
  answer_invalid: refused(
    'answer_invalid',
    ({ provider }) => `The answer of ${provider} is not valid for this sign-in. ${nothingChanged}`,
  ),
  subject_invalid: refused(
    'subject_invalid',
    ({ provider }) =>
      `${provider} names you by an ID that is not 1 to 255 ASCII characters, so you cannot be told apart from others. ${askOperator}`,
  ),
  // It is known who the person is, and no account is theirs.
  email_missing: refused(
    'email_missing',
    ({ provider }) =>
      `There is no account here for you yet, and ${provider} gave no email address of yours that can be used here. ${askOperator}`,
  ),
  email_unverified: refused(
    'email_unverified',
    ({ provider }) =>
      `There is no account here for you yet. ${provider} gave your email address, but ${provider} does not say that this address is yours: confirm it there, or ask the operator of this server.`,
  ),
  no_account: refused(
    'no_account',
    ({ provider }) =>
      `There is no account here for you yet: the account of your email address is not linked to ${provider}. ${askOperator}`,
  ),
  account_of_other_subject: refused(
    'account_of_other_subject',
    ({ provider }) =>
      `There is no account here for you yet: the account of your email address is linked to somebody else at ${provider}. ${askOperator}`,
  ),
  unlinked: refused(
    'unlinked',
    ({ provider }) => `Your account at ${provider} was unlinked from your account here. ${askOperator}`,
  ),
  creation_off: refused('creation_off', () => 'There is no account here for you yet: ask the operator of this server.'),
  disabled: refused('disabled', () => 'Your account is disabled: ask the operator of this server.'),
} as const satisfies Readonly<Record<string, Row>>

export type SignInCause = keyof typeof rows
export const signInCauses: Readonly<Record<SignInCause, Row>> = rows

/** Why nobody was signed in: the cause, and the error of the provider where it is one. */
export type SignInFault = { readonly kind: SignInCause; readonly code: string | null }

const isCause = (value: unknown): value is SignInCause => typeof value === 'string' && Object.hasOwn(rows, value)

/** The fault that a refusal has in its details; null for another refusal. */
export const signInFaultIn = (details: Readonly<Record<string, unknown>> = {}): SignInFault | null => {
  const { kind, code } = details
  return isCause(kind) ? { kind, code: typeof code === 'string' ? code : null } : null
}

/** The reason that the audit log has. */
export const auditReasonOf = ({ kind, code }: SignInFault): string => {
  const { audit } = signInCauses[kind]
  return audit === 'provider_error' ? `${audit}:${code ?? 'unknown'}` : audit
}

/** What the person reads. */
export const sentenceOf = (
  { kind, code }: SignInFault,
  rules: Pick<SignInRules, 'providerName' | 'ways' | 'passwordFor'>,
): string =>
  signInCauses[kind].says({
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
