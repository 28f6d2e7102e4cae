import type { Transporter } from 'nodemailer'
import { whenNeeded } from './when-needed.ts'
import { type MailFault, mailFaultSentence, type MailSettings, mailTimeoutMs } from '../domain/mail.ts'

/** A mail for one person. `id` names it at every attempt, so that a mail server or a reader can tell that it came twice. */
export type OutgoingMail = {
  readonly id?: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Hands mails to the mail server of the operator. */
export type Mailer = ReturnType<typeof createMailer>

type MailerOptions = {
  /** The name of the sender if MAIL_FROM has none. */
  readonly platformName: string
  /** For the whole of an attempt, and at most for each part of it. */
  readonly timeoutMs?: number
  /** Certificates (PEM) to trust instead of the usual authorities. */
  readonly authority?: string
}

export const createMailer = (
  first: MailSettings,
  { platformName, timeoutMs = mailTimeoutMs, authority }: MailerOptions,
) => {
  const transportOf = async ({ host, port, tls, login }: MailSettings): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer') // with the first mail, because it is large
    return createTransport({
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
      tls: { rejectUnauthorized: true, ...(authority === undefined ? {} : { ca: authority }) },
      dnsTimeout: Math.min(timeoutMs, greetingMs),
      connectionTimeout: Math.min(timeoutMs, greetingMs),
      greetingTimeout: Math.min(timeoutMs, greetingMs),
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
  const used = (settings: MailSettings) => ({
    settings,
    transport: whenNeeded(async () => await transportOf(settings)),
  })
  let current = used(first)
  let noticed: { readonly fault: MailFault | null; readonly givenUp: number } = { fault: null, givenUp: 0 }
  return {
    /** Sends the mails that begin from now on with these settings. */
    use: (settings: MailSettings): void => void (current = used(settings)),
    /** Null when the mail server has taken the mail. After a time-out it may have taken it, too. */
    send: async ({ id, to, subject, text, html }: OutgoingMail): Promise<MailFault | null> => {
      const { settings, transport } = current
      const { from } = settings
      const late = Promise.withResolvers<MailFault>()
      const timer = setTimeout(() => late.resolve('timed_out'), timeoutMs)
      const sending = transport()
        .then(
          async (open) =>
            await open.sendMail({
              // As objects, so that nothing in an address or a name is read as a further recipient.
              from: { name: from.name ?? platformName, address: from.address },
              to: { name: '', address: to },
              ...(id !== undefined && { messageId: `<${id}@${from.address.replace(/^.*@/, '')}>` }),
              subject,
              text,
              html,
              headers: { 'Auto-Submitted': 'auto-generated' },
            }),
        )
        .then(() => null, faultOf)
      return await Promise.race([sending, late.promise]).finally(() => clearTimeout(timer))
    },
    /** What keeps mails from being sent now, as a sentence; null if nothing does. */
    trouble: (): string | null => (noticed.fault === null ? null : mailFaultSentence(noticed.fault, current.settings)),
    /** How many mails were given up lately. */
    givenUp: (): number => noticed.givenUp,
    /** Remembers both, so that readiness and metrics need not ask the store. */
    notice: (found: typeof noticed): void => void (noticed = found),
    /** A fault in one sentence, with the remedy. */
    explain: (fault: MailFault): string => mailFaultSentence(fault, current.settings),
  }
}

/** A mail server greets within seconds, or not at all. */
const greetingMs = 30_000

/** nodemailer gives most failures of a connection one code, and keeps the sentence of the cause. */
const faultOf = (error: unknown): MailFault => {
  if (!(error instanceof Error)) return 'refused'
  const [code, command, response, said] = ['code', 'command', 'responseCode', 'response'].map((name): unknown =>
    Reflect.get(error, name),
  )
  const status = typeof response === 'number' ? response : 0
  const isPassing = status >= 400 && status < 500 // such as 454 and 421: nothing is wrong with user and password
  if (code === 'EAUTH' || code === 'ENOAUTH' || status === 530) return isPassing ? 'refused' : 'login' // RFC 4954 section 6
  if (code === 'EDNS') return 'unknown_host'
  if (code === 'ETIMEDOUT') return 'timed_out'
  if (code === 'ETLS' || (code === 'ESOCKET' && /certificate|altnames|SSL|TLS/i.test(error.message))) return 'tls'
  if (status === 0) return 'not_connected'
  return typeof command === 'string' ? refusalOf(command, status, String(said)) : 'refused'
}

/**
 * Whom a refusal is about: the sender, the recipient, or this server, whatever the mail. Codes such as 5.1.1 say it (RFC 3463); without
 * one the words do, because a relay that is closed and a mailbox that is unknown have the same number.
 */
const refusalOf = (command: string, status: number, said: string): MailFault => {
  const [, subject = '', detail = ''] = /^\d{3}[ -][245]\.(\d{1,3})\.(\d{1,3})\b/.exec(said) ?? []
  const isPassing = status < 500
  if (command === 'MAIL FROM') {
    const isOfSender = subject === '' ? [501, 550, 553].includes(status) : ['1', '7'].includes(subject)
    return isOfSender && !isPassing ? 'sender' : 'refused'
  }
  if (command !== 'RCPT TO') return 'refused'
  if (subject === '1' && ['7', '8'].includes(detail)) return 'sender'
  if (status === 421 || ['3', '4', '5'].includes(subject)) return 'refused'
  if (isPassing || (subject === '2' && detail === '2')) return 'recipient_later' // 4.2.2 and 5.2.2: the mailbox is full
  const isOfRecipient =
    subject === '' ? [550, 551, 553].includes(status) && !ofRelays.test(said) : /[126]/.test(subject)
  return isOfRecipient ? 'recipient' : 'relay'
}

const ofRelays = /relay|polic|block|denied|reject|spam|listed|auth|log ?in|limit|quota|rate|reputation|not permitted/i
