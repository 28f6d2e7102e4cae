import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import { createMailer, type Mailer } from '../../src/runtime/mailer.ts'
import type { MailSettings } from '../../src/domain/mail.ts'

// The library waits a tenth of a second before it greets, for clients that talk too soon.
SMTPConnection.prototype.init = function () {
  // oxlint-disable-next-line no-underscore-dangle -- the library's own name
  this._setListeners(() => this.connectionReady())
}

/** A mail as it arrived: the addresses of the envelope, the raw lines before the body, and its two forms, decoded. */
export type ReceivedMail = {
  readonly from: string
  readonly to: readonly string[]
  readonly head: string
  readonly text: string
  readonly html: string
}

/** What the server answers to each command, a status or a whole line; 250 by default. */
type MailBehaviour = {
  readonly mailFrom?: number | string
  readonly rcptTo?: number | string | ((address: string) => number | string | undefined)
  readonly data?: number | string
  /** How long it looks at a mail before it answers. */
  readonly checkingMs?: number
}

export type MailServer = {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  behave(behaviour: MailBehaviour): void
  /** Stops listening. `up` listens on the same port again. */
  down(): Promise<void>
  up(): Promise<void>
  mailer(
    settings?: Partial<MailSettings>,
    options?: { readonly timeoutMs?: number; readonly authority?: string },
  ): Mailer
}

const plain: SMTPServerOptions = { disabledCommands: ['STARTTLS', 'AUTH'], authOptional: true }

const answered = (line: number | string | undefined) => {
  const [, status = '', words = ''] = /^(\d{3}) ?(.*)$/.exec(String(line ?? '')) ?? []
  return line === undefined ? null : Object.assign(new Error(words || 'Not now.'), { responseCode: Number(status) })
}

/** A real SMTP server on the loopback address. It takes everything by default, without TLS and without a login. */
export const startMailServer = async (options: SMTPServerOptions = plain): Promise<MailServer> => {
  const received: ReceivedMail[] = []
  let behaviour: MailBehaviour = {}
  let server: SMTPServer | null = null
  let port = 0
  const down = async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (server === null) resolve()
    else server.close(resolve)
    await promise
    server = null
  }
  const up = async () => {
    const listening = new SMTPServer({
      logger: false,
      disableReverseLookup: true,
      closeTimeout: 100,
      onMailFrom: (_address, _session, done) => done(answered(behaviour.mailFrom)),
      onRcptTo: ({ address }, _session, done) => {
        const { rcptTo } = behaviour
        done(answered(typeof rcptTo === 'function' ? rcptTo(address) : rcptTo))
      },
      onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          const refusal = answered(behaviour.data)
          const from = mailFrom === false ? '' : mailFrom.address
          const to = rcptTo.map(({ address }) => address)
          if (refusal === null) received.push({ from, to, ...partsOf(Buffer.concat(chunks).toString()) })
          setTimeout(() => done(refusal), behaviour.checkingMs ?? 0)
        })
      },
      ...options,
    })
    listening.on('error', () => undefined) // a client that leaves is no fault of the server
    const { promise, resolve } = Promise.withResolvers<void>()
    listening.listen(port, '127.0.0.1', resolve)
    await promise
    const address = listening.server.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
    server = listening
  }
  await up()
  return {
    get port() {
      return port
    },
    received,
    behave: (next) => void (behaviour = next),
    down,
    up,
    mailer: (settings = {}, { timeoutMs = 60_000, ...authority } = {}) =>
      createMailer({ ...settingsOf(port), ...settings }, { platformName: 'App Platform', timeoutMs, ...authority }),
  }
}

const settingsOf = (port: number): MailSettings => ({
  host: 'localhost',
  port,
  tls: 'none',
  login: null,
  from: { name: null, address: 'apps@example.com' },
})

const partsOf = (raw: string): Pick<ReceivedMail, 'head' | 'text' | 'html'> => {
  const [head = ''] = raw.split('\r\n\r\n', 1)
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? ''
  const [, text = '', html = ''] = raw.split(`--${boundary}`)
  return { head, text: decoded(text), html: decoded(html) }
}

const decoded = (part: string): string => {
  const at = part.indexOf('\r\n\r\n')
  const [head, body] = [part.slice(0, at), part.slice(at + 4).replaceAll('\r\n', '\n')]
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString()
  if (!/quoted-printable/i.test(head)) return body
  const bytes = body
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

/** The secret of the link in a mail; empty without one. */
export const linkIn = ({ text }: Pick<ReceivedMail, 'text'>): string => /[?&]link=([\w.-]+)/.exec(text)?.[1] ?? ''
