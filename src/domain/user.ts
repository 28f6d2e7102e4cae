/** A disabled user keeps all data and has no access until an operator enables the account. */
export const userStatuses = ['active', 'disabled'] as const
export type UserStatus = (typeof userStatuses)[number]

/** What decides whether a person may come in. Times are epoch milliseconds. */
type Entrant = {
  readonly status: UserStatus
  /** When a recovery suspended the person, if no operator has confirmed them since. */
  readonly suspendedAt: number | null
  /** When sessions of the person last ended, with every sign-in that had begun. */
  readonly signInsEndedAt: number | null
}

/** Whether a sign-in that began at this time may give a session. Every way to sign in asks this, in the transaction of the session. */
export const mayEnter = ({ status, suspendedAt, signInsEndedAt }: Entrant, begunAt: number): boolean =>
  status === 'active' && suspendedAt === null && (signInsEndedAt === null || begunAt >= signInsEndedAt)

const atom = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** Atoms with dots between them (RFC 5321 section 4.1.2), then a host name. Matching takes linear time: dots separate all parts. */
const form = new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`)

/** What stands for the name of a person who has none. */
export const localPartOf = (email: string): string => email.slice(0, email.indexOf('@'))

/** The address in lower case, as it is stored and compared; null for any other text. Nothing is trimmed. */
export const normalizeEmail = (text: string): string | null => {
  if (text.length > 254) return null // RFC 5321 section 4.5.3.1.3, without the angle brackets
  if (!/^[\x21-\x7e]+$/.test(text)) return null // before toLowerCase, which turns some other letters into ASCII
  const address = text.toLowerCase()
  return address.indexOf('@') <= 64 && form.test(address) ? address : null
}
