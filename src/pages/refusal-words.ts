import type { AuditAction } from '../domain/audit-action.ts'
import { type ErrorCode, isErrorCode, messageOf, statusOf } from '../domain/errors.ts'
import type { FormCause } from '../domain/form-cause.ts'
import { storedJson } from '../operations/stored-json.ts'
import type { AuditLine } from './audit-words.ts'

/**
 * Why something was refused, as a sentence for the audit log; null for what was done. The sentence of a code speaks to the caller of one
 * kind of call. Events of other kinds that are refused with the same code have one of their own, or one that fits everything.
 */
export const refusalWords = (
  event: Pick<AuditLine, 'action' | 'outcome' | 'reason'> & Partial<Pick<AuditLine, 'detail'>>,
): string | null => {
  const { action, outcome, reason } = event
  if (outcome === 'done') return null
  if (reason === null) return 'No reason is recorded.'
  const known = formWords.get(reason) ?? wordsOfDetail(event) ?? ofAction.get(action)?.get(reason)
  if (known !== undefined) return known
  if (!isErrorCode(reason)) return reason
  const subjects = subjectsOf.get(reason)
  const [subject = ''] = action.split('.')
  return subjects === undefined || subjects.includes(subject) ? messageOf(reason) : general[statusOf(reason)]
}

const mapped = <T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> => new Map(Object.entries(table))

const formWords = mapped<string>({
  form_expired: 'The form was open for too long.',
  form_of_other_session: 'The form was made for another session, account or page.',
  form_at_other_address: 'The page was open at another address than PUBLIC_URL.',
  form_from_other_site: 'The form was sent from another site.',
  form_without_cookie: 'The browser sent no cookie that could be read.',
} satisfies Record<FormCause, string>)

/** Somebody who could not sign in or confirm who they are, by the way in which they tried. */
const wordsOfDetail = ({
  action,
  reason,
  detail = null,
}: Pick<AuditLine, 'action' | 'reason'> & Partial<Pick<AuditLine, 'detail'>>): string | undefined => {
  if (reason !== 'invalid_login' || detail === null) return undefined
  if (action !== 'session.create' && action !== 'session.prove') return undefined
  const facts = storedJson<Readonly<Record<string, unknown>>>(detail)
  const way = facts['way'] ?? facts['with'] ?? facts['factor']
  const why = typeof facts['reason'] === 'string' ? `: ${facts['reason'].replaceAll('_', ' ')}.` : '.'
  const place = way === 'oidc' ? 'the identity provider' : way === 'handover' ? 'the builder' : null
  if (place !== null) return `What ${place} answered was not accepted${why}`
  if (way === 'passkey') return 'The passkey was not accepted.'
  return way === 'code' ? 'The code of the second factor was wrong, or it came too late.' : undefined
}

/** What a code means for an event whose subject its own sentence does not name. */
const ofAction = mapped(
  Object.fromEntries(
    Object.entries({
      'user.use_link': { version_not_eligible: 'The link was used, replaced or has expired.' },
      'member.use_invitation': {
        version_not_eligible: 'The invitation was used, revoked or has expired.',
        right_missing: 'The invitation is for another email address.',
      },
      'user.change_password': { invalid_login: 'The present password was wrong.' },
      'session.prove': { invalid_login: 'The password or the code was wrong.' },
      'service_key.use': { right_missing: 'The service key lacks the right that this needs.' },
      'command.run': { right_missing: 'No service key may run this command.' },
      'page.change': {
        right_missing: 'Their role lacks the right that this needs.',
        route_not_found: 'It is not theirs, or it no longer exists.',
        idempotency_key_reused: 'The form had been sent before.',
        version_not_eligible: 'What the form was about had changed.',
      },
    } satisfies Partial<Record<AuditAction, Partial<Record<ErrorCode, string>>>>).map(
      ([action, words]) => [action, mapped<string>(words)] as const,
    ),
  ),
)

/** The nouns of the events that the sentence of a code fits. The sentences of all other codes fit every event. */
const subjectsOf = mapped<readonly string[]>({
  version_not_eligible: ['version'],
  version_locked: ['version'],
  version_already_current: ['version'],
  version_not_found: ['version', 'app'],
  no_previous_version: ['version', 'app'],
  activation_not_allowed: ['version'],
  rollback_not_allowed: ['version', 'app'],
  checksum_mismatch: ['version'],
  invalid_login: ['session', 'user'],
  second_factor_required: ['session'],
  right_missing: ['service_key', 'app', 'member'],
  operator_protected: ['service_key', 'command', 'user', 'sign_in', 'app', 'member'],
  token_not_owned: ['token', 'bearer', 'app_token'],
  too_many_secrets: ['credential', 'webhook'],
  email_taken: ['user'],
  slug_taken: ['resource'],
  owns_apps: ['user'],
} satisfies Partial<Record<ErrorCode, readonly string[]>>)

/** A sentence of each status that fits every event. */
const general = {
  400: 'What was sent is not valid.',
  401: 'The caller did not prove who it is.',
  403: 'The caller may not do this.',
  404: 'What was named does not exist.',
  405: 'This cannot be done there.',
  409: 'Its state does not allow this.',
  410: 'It has been retired.',
  413: 'What was sent is too large.',
  415: 'What was sent has another type.',
  422: 'It was sent before with other content.',
  429: 'There were too many requests.',
  500: 'Something went wrong on our side.',
  503: 'The service could not take this request.',
} as const satisfies Record<ReturnType<typeof statusOf>, string>
