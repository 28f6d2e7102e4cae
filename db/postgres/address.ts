import { DatabaseUnusable } from '../database.ts'

/** One server of the URL. `socket` is a folder with a Unix socket, instead of a host. */
export type Host = { readonly host: string; readonly port: number; readonly socket: string | null }

/** What a URL such as `postgres://user:password@one,two:5433/apps?sslmode=verify-full` names. */
export type Address = {
  readonly hosts: readonly Host[]
  readonly user: string
  readonly password: string
  readonly database: string
  /** `verify-full`, or `disable` for servers on this machine. */
  readonly tls: 'verify-full' | 'disable'
  /** A file with the certificate of the authority that signed the server's; null: those of the system. */
  readonly authority: string | null
}

/** Where a server is, for sentences to the operator: `one:5432/apps`. Never with user and password. */
export const placeOf = ({ database }: Address, ...hosts: readonly Host[]): string => {
  const names = hosts.map(({ host, port, socket }) => `${socket ?? (host.includes(':') ? `[${host}]` : host)}:${port}`)
  return `${names.join(',')}/${database}`
}

const parts = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/
const parameters = ['sslmode', 'sslrootcert', 'host']

/** Whether a setting names a PostgreSQL database. */
export const isPostgresUrl = (text: string): boolean => /^postgres(ql)?:\/\//.test(text)

/**
 * Reads the URL of a PostgreSQL database. Several hosts are separated by commas; the one that is the primary is used.
 * @throws DatabaseUnusable with a sentence that repeats nothing of the URL
 */
export const parseAddress = (url: string): Address => {
  const [, user = '', password = '', authority = '', database = '', query = ''] = parts.exec(url) ?? []
  const given = new URLSearchParams(query)
  const unknown = [...given.keys()].filter((name) => !parameters.includes(name))
  if (unknown.length > 0) throw unusable(`has parameters other than ${parameters.join(', ')}.`)
  const hosts = hostsOf(authority, given.get('host'))
  if (user === '' || database === '' || hosts.length === 0) {
    throw unusable('must name user, host and database, as in postgres://user:password@host/database.')
  }
  if (hosts.some(({ port }) => port < 1 || port > 65_535)) {
    throw unusable('has a port that does not exist: ports are from 1 to 65535, and PostgreSQL has 5432 by default.')
  }
  const mode = given.get('sslmode') ?? (hosts.every(isLocal) ? 'disable' : '')
  if (mode !== 'verify-full' && !(mode === 'disable' && hosts.every(isLocal))) {
    if (hosts.every(isLocal)) throw unusable('has an sslmode other than verify-full, and disable for this machine.')
    throw unusable('names another machine without sslmode=verify-full: its traffic could be read and changed.')
  }
  return {
    hosts,
    user: decoded(user),
    password: decoded(password),
    database: decoded(database),
    tls: mode,
    authority: given.get('sslrootcert'),
  }
}

const hostsOf = (authority: string, folder: string | null): readonly Host[] => {
  if (folder !== null) {
    const [, port = '5432'] = /:(\d{1,5})$/.exec(authority) ?? [] // it is part of the name of the socket
    return folder.startsWith('/') ? [{ host: 'localhost', port: Number(port), socket: folder }] : []
  }
  const hosts = authority.split(',').map((part) => {
    const [, host = '', port = '5432'] = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(part) ?? []
    return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port), socket: null }
  })
  return hosts.every(({ host }) => host !== '') ? hosts : []
}

const isLocal = ({ host, socket }: Host): boolean =>
  socket !== null || /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(plainHost(host))

/** In the one form that the system resolves it to: `LOCALHOST.` and `127.1` are this machine as well. */
const plainHost = (host: string): string => {
  const url = `http://${host.includes(':') ? `[${host}]` : host.replace(/\.$/, '')}`
  return URL.canParse(url) ? new URL(url).hostname : host
}

const decoded = (text: string): string => {
  if (text.includes('%00')) throw unusable('has %00, which no name or password can have: remove it.')
  try {
    return decodeURIComponent(text)
  } catch {
    throw unusable('has a percent sign that begins no escape: write it as %25.')
  }
}

/** The rule that a URL breaks: a sentence without its subject, which repeats nothing of the URL. */
class AddressUnusable extends DatabaseUnusable {
  constructor(readonly rule: string) {
    super('unsupported', `DATABASE_URL ${rule}`)
  }
}

const unusable = (rule: string) => new AddressUnusable(rule)

/** The same rule without an error; null for a URL that breaks none. */
export const brokenRuleOf = (url: string): string | null => {
  try {
    parseAddress(url)
    return null
  } catch (error) {
    if (error instanceof AddressUnusable) return error.rule
    throw error
  }
}
