import type { Transporter } from 'nodemailer'
import { whenNeeded } from './when-needed.ts'
import { type MailFault, mailFaultSentence, type MailSettings, mailTimeoutMs } from '../domain/mail.ts'

/** A mail for one person. `copies` are for others, whom it does not name. */
export type OutgoingMail = {
  readonly to: string
  readonly copies?: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Hands mails to the mail server of the operator. */
export type Mailer = ReturnType<typeof createMailer>

type MailerOptions = {
  /** The name of the sender if MAIL_FROM has none. */
  readonly platformName: string
  /** For the whole of an attempt. */
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
      dnsTimeout: timeoutMs,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
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
    send: async ({ to, copies = [], subject, text, html }: OutgoingMail): Promise<MailFault | null> => {
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
              envelope: { from: from.address, to: [to, ...copies] },
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

/** nodemailer gives most failures of a connection one code, and keeps the sentence of the cause. */
const faultOf = (error: unknown): MailFault => {
  if (!(error instanceof Error)) return 'refused'
  const [code, command, response] = ['code', 'command', 'responseCode'].map((name): unknown => Reflect.get(error, name))
  const status = typeof response === 'number' ? response : 0
  if (code === 'EAUTH' || code === 'ENOAUTH' || status === 530) return 'login' // 530: RFC 4954 section 6
  if (code === 'EDNS') return 'unknown_host'
  if (code === 'ETIMEDOUT') return 'timed_out'
  if (code === 'ETLS' || (code === 'ESOCKET' && /certificate|altnames|SSL|TLS/i.test(error.message))) return 'tls'
  if (code === 'EENVELOPE' && command === 'RCPT TO') return status >= 500 ? 'recipient' : 'recipient_later'
  if (code === 'EENVELOPE') return 'sender'
  return status > 0 ? 'refused' : 'not_connected'
}
