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

/** Longest address (RFC 5321 section 4.5.3.1.3, without the angle brackets). */
const longestAddress = 254

/**
 * The address as it is stored and compared: in lower case, with the host in ASCII; null for any other text. Nothing is trimmed. A
 * host with other letters is converted as browsers do (UTS #46). Letters outside ASCII before the @ are refused: most mail servers
 * take no such address (RFC 6531), and each of them decides for itself which ones are the same.
 */
export const normalizeEmail = (text: string): string | null => {
  if (text.length > longestAddress) return null
  const at = text.lastIndexOf('@')
  if (at < 0) return null
  const [local, host] = [text.slice(0, at), asciiHost(text.slice(at + 1))]
  if (host === null || !/^[\x21-\x7e]+$/.test(local)) return null // before toLowerCase, which turns some other letters into ASCII
  const address = `${local}@${host}`.toLowerCase()
  return address.length <= longestAddress && local.length <= 64 && form.test(address) ? address : null
}

/** What is wrong with an address that cannot be normalized, as a sentence. */
export const emailFault = (text: string): string => {
  if (/[\s\p{C}\p{Default_Ignorable_Code_Point}]/u.test(text)) {
    return 'The email address has a space or a character that cannot be seen: type it again.'
  }
  return normalizeEmail(text.slice(0, longestAddress).replace(/^[^@]*\P{ASCII}[^@]*/u, 'x')) === null
    ? 'The email address is malformed.'
    : 'An email address can have such letters only behind the @.'
}

/** A host in ASCII; null for one that no name can have. The label behind it keeps a number from being read as an IP address. */
const asciiHost = (host: string): string | null => {
  if (/^[\x21-\x7e]*$/.test(host)) return host
  if (/[[\p{ASCII}]--[a-zA-Z0-9.\-]]/v.test(host)) return null // has a meaning in a URL
  return URL.parse(`https://${host}.x`)?.hostname.slice(0, -2) ?? null
}
