import type { MailSettings } from '../domain/mail.ts'
import { normalizeEmail } from '../domain/user.ts'
import { Broken, fileSetting, nameOf, type Read } from './setting.ts'

/** Any of these says that the server sends mails. */
export const mailSettings = ['MAIL_FROM', 'SMTP_URL', fileSetting('SMTP_URL')]

/** The mail server; null without one, and then nothing is mailed. */
export const readMail = (read: Read, faults: string[]): MailSettings | null => {
  const faultsBefore = faults.length
  const server = read('SMTP_URL', null, serverOf)
  const from = read('MAIL_FROM', null, senderOf)
  if (faults.length > faultsBefore || (server === null && from === null)) return null
  if (server === null || from === null) {
    faults.push('SMTP_URL and MAIL_FROM need each other: set both, or neither to send no mail.')
    return null
  }
  return { ...server, from }
}

const rule =
  'must be smtp://user:password@host:587 or smtps://user:password@host:465, with %-codes for special characters; ' +
  'only ?tls=off may follow smtp://.'

const serverOf = (text: string): Omit<MailSettings, 'from'> | Broken => {
  const url = URL.parse(text)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '' || url.hash !== '') return new Broken(rule)
  const isImplicit = url.protocol === 'smtps:'
  const isOff = url.search === '?tls=off' && !isImplicit
  if (!/^\/?$/.test(url.pathname) || (url.search !== '' && !isOff) || url.port === '0') return new Broken(rule)
  const login = loginOf(url)
  if (login instanceof Broken) return login
  // In the form that is looked up: only of schemes that a browser knows does URL convert a name such as bücher.example.
  const known = URL.parse(`http://${url.hostname}`)
  if (known === null) return new Broken(rule)
  const host = known.hostname.replace(/^\[(.*)\]$/, '$1')
  const isPlain = isOff || /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host) // nobody is on the way to this machine
  return {
    host,
    port: url.port === '' ? (isImplicit ? 465 : 587) : Number(url.port),
    tls: isImplicit ? 'implicit' : isPlain ? 'none' : 'starttls',
    login,
  }
}

const loginOf = ({ username, password }: URL): MailSettings['login'] | Broken => {
  if (username === '' && password === '') return null
  try {
    const login = { user: decodeURIComponent(username), password: decodeURIComponent(password) }
    return login.user === '' || /\p{Cc}/u.test(login.user + login.password) ? new Broken(rule) : login
  } catch {
    return new Broken(rule)
  }
}

const senderOf = (text: string): MailSettings['from'] | Broken => {
  const [, name = '', written = ''] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? [text, '', text.trim()]
  const address = normalizeEmail(written)
  const words = name.trim().replace(/^"(.*)"$/, '$1')
  const sender = words === '' ? null : nameOf(words)
  return address === null || sender instanceof Broken
    ? new Broken('must be an address such as apps@example.com, or App Platform <apps@example.com>.')
    : { name: sender, address }
}
