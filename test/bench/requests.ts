/** Whole requests as text, so that the generator only has to send them. */
const base = '/api/app-platform'

const request = (method: string, path: string, lines: readonly string[], body = ''): string =>
  [
    `${method} ${base}${path} HTTP/1.1`,
    'Host: localhost',
    'User-Agent: bench',
    'Accept: application/json',
    'X-Service-Api-Version: 2026-08',
    ...lines,
    '',
    body,
  ].join('\r\n')

export const get = (path: string, token: string): string => request('GET', path, [`Authorization: Bearer ${token}`])

export const post = (path: string, body: Readonly<Record<string, string>>): string => {
  const text = JSON.stringify(body)
  return request('POST', path, ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`], text)
}

const tokenOf = (request: string): string => /Bearer (\S+)/.exec(request)?.[1] ?? ''

/** A read of another path with the token of another request. */
export const sameTokenTo =
  (path: string) =>
  (read: string): string =>
    get(path, tokenOf(read))

/** The question of a proxy about the token of another request. */
export const check = (read: string): string =>
  [
    'GET /oauth/check?scope=site:read&environment=development HTTP/1.1',
    'Host: localhost',
    'User-Agent: bench',
    'Accept: application/json',
    `Authorization: Bearer ${tokenOf(read)}`,
    '',
    '',
  ].join('\r\n')

/** Introspection by the client and for the token of two other requests: a refresh and a read (RFC 7662 section 2.1). */
export const introspection = (refresh: string, read: string): string => {
  const { clientId, clientSecret } = JSON.parse(refresh.slice(refresh.indexOf('\r\n\r\n')))
  const token = tokenOf(read)
  const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, token }).toString()
  return [
    'POST /oauth/introspect HTTP/1.1',
    'Host: localhost',
    'User-Agent: bench',
    'Accept: application/json',
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}

/** Sends one of these requests, and returns its path with the answer that the raw server gives to all requests like it. */
export const firstAnswer = async (port: number, text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = new Headers(fields.map(nameAndValue))
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...(body === '' ? {} : { body }) })
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${await response.text()}`)
  for (const name of ['date', 'content-length']) response.headers.delete(name)
  const { status } = response
  const answer = { status, body: await response.text(), headers: Object.fromEntries(response.headers) }
  return [path, answer] as const
}

const nameAndValue = (field: string): [string, string] => {
  const colon = field.indexOf(':')
  return [field.slice(0, colon), field.slice(colon + 2)]
}
