import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { hasCode } from '../domain/error-code.ts'
import { addressFault, type IpNetwork, isThisMachine, parseIpAddress, thisMachine } from '../domain/ip-address.ts'
import { type AttemptError, attemptTimeoutMs } from '../domain/webhook-delivery.ts'
import { isOfCertificate } from './cause.ts'

/** Finds all addresses of a host name; rejects when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>

export type WebhookMessage = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Ends the attempt early. It then rejects, since its result is unknown. */
  readonly signal?: AbortSignal
}

/** The result of one call: a status, or why there is none. */
export type WebhookAnswer = {
  readonly status: number | null
  readonly error: AttemptError | null
  readonly retryAfter: string | null
  /** The headers of the answer, without cookies, cut to about two kilobytes. */
  readonly headers: Readonly<Record<string, string>>
  /** The first kilobyte of the answer. */
  readonly answer: string
  readonly durationMs: number
}

/** The only outgoing HTTP of the server. It calls public addresses, and those that the operator allows. */
export type WebhookSender = {
  /** Why a URL cannot be called now; null when it can. Only the resolver is asked. */
  check(url: string): Promise<Extract<AttemptError, 'address_refused' | 'not_resolved' | 'timed_out'> | null>
  send(message: WebhookMessage): Promise<WebhookAnswer>
}

type SenderOptions = {
  readonly resolve: Resolve
  /** Private networks that may be called. */
  readonly allowed: readonly IpNetwork[]
  /** For a whole attempt, from resolving the name to the end of the answer. */
  readonly timeoutMs: number
  /** Certificates (PEM) to trust instead of the usual authorities. */
  readonly authority?: string
  /** Asked when a receiver is on this machine: whether it may be called, whatever certificate it has. */
  readonly callsThisMachine?: () => Promise<boolean>
}

/** The most bytes that are read of an answer; a longer one is cut off. */
const readBytes = 8192
const keptBytes = 1024

/** How many addresses of a name are tried if connections fail. */
const triedAddresses = 3
/** The most informational answers (RFC 9110 section 15.2) before the final one; a receiver could send them without end. */
const mostInformational = 16

/**
 * Uses c-ares, which has many queries in flight at once. The C library has only a few threads, and one silent name server
 * would delay all other names. It is the fallback when c-ares reaches no name server: c-ares reads their addresses when
 * the program starts, perhaps before the network is up.
 */
const systemResolve: Resolve = async (host) => {
  try {
    return (await Bun.dns.lookup(host, { backend: 'c-ares' })).map(({ address }) => address)
  } catch (cause) {
    if (!hasCode(cause, 'DNS_ECONNREFUSED')) throw cause
    return (await lookup(host, { all: true })).map(({ address }) => address)
  }
}

/**
 * Each call resolves the name once, checks all its addresses, and connects to one of them by number, so that the name
 * cannot be resolved a second time with another result. The certificate is checked for the name. Redirects are not
 * followed, connections are not kept, proxies of the environment are not used.
 */
export const createWebhookSender = (options: SenderOptions): WebhookSender => ({
  check: async (url) => {
    const place = await inTime(locate(new URL(url), options), AbortSignal.timeout(options.timeoutMs))
    return place.kind === 'refused' ? place.error : null
  },
  send: async (message) => {
    const startedAt = performance.now()
    const deadline = AbortSignal.timeout(options.timeoutMs)
    const place = await inTime(locate(new URL(message.url), options), deadline)
    const answer = place.kind === 'refused' ? noAnswer(place.error) : await callOne(place, message, deadline, options)
    return { ...answer, durationMs: Math.round(performance.now() - startedAt) }
  },
})

/** The sender of a server or command, with the resolver of this machine and a limit of fifteen seconds. */
export const openWebhookSender = (
  allowed: readonly IpNetwork[],
  callsThisMachine: () => Promise<boolean>,
): WebhookSender =>
  createWebhookSender({ resolve: systemResolve, allowed, timeoutMs: attemptTimeoutMs, callsThisMachine })

type Place = Found | { readonly kind: 'refused'; readonly error: 'address_refused' | 'not_resolved' | 'timed_out' }

type Found = {
  readonly kind: 'found'
  readonly addresses: readonly string[]
  /** Whether those on this machine are called whatever certificate they have. */
  readonly isOfDemo: boolean
}

const locate = async (url: URL, { resolve, allowed, callsThisMachine }: SenderOptions): Promise<Place> => {
  const host = numberOf(url)
  const addresses = host === null ? await resolve(url.hostname).catch(() => []) : [host]
  if (addresses.length === 0) return { kind: 'refused', error: 'not_resolved' }
  const isOfDemo = addresses.some(isThisMachine) && (await callsThisMachine?.()) === true
  const called = isOfDemo ? [...allowed, ...thisMachine] : allowed
  return addresses.every((address) => addressFault(address, called) === null)
    ? { kind: 'found', addresses: addresses.toSorted(byFamily), isOfDemo }
    : { kind: 'refused', error: 'address_refused' }
}

/** IPv4 first: on many machines IPv6 is missing or does not work. */
const byFamily = (one: string, other: string): number => Number(one.includes(':')) - Number(other.includes(':'))

/** The address in a URL that has one instead of a name; else null. */
const numberOf = ({ hostname }: URL): string | null => {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return parseIpAddress(text) === null ? null : text
}

/** A resolver that hangs cannot be stopped, so only the waiting ends. */
const inTime = async (place: Promise<Place>, deadline: AbortSignal): Promise<Place> => {
  const late = Promise.withResolvers<Place>()
  deadline.addEventListener('abort', () => late.resolve({ kind: 'refused', error: 'timed_out' }), { once: true })
  return await Promise.race([place, late.promise])
}

type Answer = Omit<WebhookAnswer, 'durationMs'>

const noAnswer = (error: AttemptError): Answer => ({ status: null, error, retryAfter: null, headers: {}, answer: '' })

/**
 * The next address is tried only when no connection was made, so that nothing is sent twice. One that is silent gets a share of the
 * time, and leaves enough for the next.
 */
const callOne = async (
  { addresses, isOfDemo }: Found,
  message: WebhookMessage,
  deadline: AbortSignal,
  { timeoutMs, authority }: SenderOptions,
): Promise<Answer> => {
  const tried = addresses.slice(0, triedAddresses)
  for (const address of tried) {
    message.signal?.throwIfAborted()
    if (deadline.aborted) return noAnswer('timed_out')
    const answer = await call(address, message, deadline, {
      connectMs: address === tried.at(-1) ? timeoutMs : timeoutMs / (triedAddresses + 1),
      // Nobody stands between this machine and itself.
      isTrusted: isOfDemo && isThisMachine(address),
      authority,
    })
    if (answer !== 'not reached') return answer
  }
  return noAnswer('not_connected')
}

const call = async (
  address: string,
  { url, headers, body, signal }: WebhookMessage,
  deadline: AbortSignal,
  {
    connectMs,
    isTrusted,
    authority,
  }: { readonly connectMs: number; readonly isTrusted: boolean; readonly authority: string | undefined },
): Promise<Answer | 'not reached'> => {
  const target = new URL(url)
  const { host, hostname, port, pathname, search } = target
  const { promise, resolve, reject } = Promise.withResolvers<Answer | 'not reached'>()
  // Loaded with the first call: it takes 12 ms, which a start and most commands do not need.
  const request = process.getBuiltinModule('node:https').request({
    method: 'POST',
    host: address,
    port: port === '' ? 443 : Number(port),
    path: pathname + search,
    headers: { ...headers, host, 'content-length': String(Buffer.byteLength(body)) },
    agent: false,
    rejectUnauthorized: !isTrusted, // explicit, since NODE_TLS_REJECT_UNAUTHORIZED=0 would turn it off
    ...(numberOf(target) === null ? { servername: hostname } : {}),
    ...(authority === undefined ? {} : { ca: authority }),
  })
  const giveUp = () => {
    resolve(noAnswer('timed_out'))
    request.destroy()
  }
  const abort = () => {
    reject(new Error('the attempt was ended early'))
    request.destroy()
  }
  deadline.addEventListener('abort', giveUp, { once: true })
  let isOpen = false
  const share = setTimeout(() => isOpen || resolve('not reached'), connectMs)
  signal?.addEventListener('abort', abort, { once: true })
  let informational = 0
  request.on('information', () => {
    informational += 1
    if (informational > mostInformational) resolve(noAnswer('no_answer'))
  })
  request.on('socket', (socket) => socket.once('secureConnect', () => (isOpen = true)))
  request.on('error', (error) => resolve(isUnreached(error) ? 'not reached' : noAnswer(errorOf(error, isOpen))))
  request.on('response', (response) => resolve(readAnswer(response, deadline)))
  request.end(body)
  try {
    return await promise
  } finally {
    clearTimeout(share)
    deadline.removeEventListener('abort', giveUp)
    signal?.removeEventListener('abort', abort)
    request.destroy()
  }
}

/** Once the status has arrived it counts, whatever happens to the rest of the answer. */
const readAnswer = async (response: IncomingMessage, deadline: AbortSignal): Promise<Answer> => {
  const retryAfter = response.headers['retry-after'] ?? null
  const answer = await readText(response, deadline)
  return { status: response.statusCode ?? null, error: null, retryAfter, headers: headersOf(response), answer }
}

/** Of a longer list, the first ones are kept; of a longer value, its beginning. */
const kept = { headers: 16, characters: 128 } as const
/** A receiver may set a cookie by mistake. It is a secret of the receiver. */
const neverKept = new Set(['set-cookie', 'set-cookie2', 'authentication-info', 'proxy-authentication-info'])

const headersOf = ({ headers }: IncomingMessage): WebhookAnswer['headers'] =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !neverKept.has(name))
      .slice(0, kept.headers)
      .map(([name, value]) => [name.slice(0, kept.characters), String(value).slice(0, kept.characters)]),
  )

const readText = async (response: IncomingMessage, deadline: AbortSignal): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const chunks: Buffer[] = []
  let read = 0
  const end = () => resolve()
  response.on('data', (chunk: Buffer) => {
    if (read < keptBytes) chunks.push(chunk)
    read += chunk.length
    if (read >= readBytes) end()
  })
  for (const event of ['end', 'close', 'error']) response.on(event, end)
  deadline.addEventListener('abort', end, { once: true })
  if (deadline.aborted) end()
  await promise
  deadline.removeEventListener('abort', end)
  response.destroy()
  return textOf(Buffer.concat(chunks))
}

/** At most a kilobyte of UTF-8, although each malformed byte becomes a character of three bytes. */
const textOf = (bytes: Uint8Array): string => {
  const text = new TextDecoder().decode(bytes.subarray(0, keptBytes)).replaceAll('\0', '\ufffd')
  return new TextDecoder().decode(Buffer.from(text).subarray(0, keptBytes)).replace(/\ufffd$/, '')
}

/** `isOpen`: whether the connection was made and encrypted, so that the receiver may have read the message. */
const errorOf = (error: Error, isOpen: boolean): AttemptError => {
  if (isOpen) return 'no_answer'
  return isOfCertificate(error) ? 'certificate_refused' : 'not_connected'
}

const isUnreached = (error: Error): boolean => 'syscall' in error && error.syscall === 'connect'
