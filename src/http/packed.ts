import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const pack = promisify(gzip) // off the event loop

/** Whether the client takes gzip (RFC 9110 section 12.5.3). */
const acceptsGzip = ({ headers }: Request): boolean =>
  (headers.get('accept-encoding') ?? '').split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })

/**
 * Answers with a file that does not change while the program runs. It is compressed when it is first asked for, and once. Each
 * form has its own ETag, because they are different bytes (RFC 9110 section 8.8.3).
 */
export const staticFile = (
  read: () => Promise<Uint8Array<ArrayBuffer>>,
  type: string,
  cacheControl: string,
): ((request: Request) => Promise<Response>) => {
  const load = async () => {
    const content = await read()
    return { packed: new Uint8Array(await pack(content, { level: 9 })), tag: hash('sha256', content).slice(0, 24) }
  }
  let loaded: ReturnType<typeof load> | null = null
  return async (request) => {
    loaded ??= load()
    const { packed, tag } = await loaded
    const isPacked = acceptsGzip(request)
    const etag = `"${tag}${isPacked ? '-gzip' : ''}"`
    const headers = { etag, 'cache-control': cacheControl, vary: 'accept-encoding' }
    if (hasTag(request, etag)) return new Response(null, { status: 304, headers })
    return new Response(isPacked ? packed : await read(), {
      headers: { ...headers, 'content-type': type, ...(isPacked ? { 'content-encoding': 'gzip' } : {}) },
    })
  }
}

/** Whether the client has this form already (RFC 9110 section 13.1.2). */
const hasTag = ({ headers }: Request, etag: string): boolean =>
  (headers.get('if-none-match') ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)

/** Answers that are shorter gain nothing. */
const shortest = 1_000

/**
 * Compresses a page. The length of a compressed page can tell an attacker who chooses a part of it what else is in it (BREACH).
 * So a page is compressed only if the browser says that no other site asked for it, and if it shows no secret: the
 * answers that show one take its cookie back, or lead on with it. Tickets differ in every answer.
 */
export const packPage = async (response: Response, request: Request): Promise<Response> => {
  const { headers, status } = response
  const isPage = headers.get('content-type')?.startsWith('text/html') === true && !headers.has('content-encoding')
  if (!isPage) return response
  headers.set('vary', 'accept-encoding, sec-fetch-site')
  if (!acceptsGzip(request) || !isAskedByReader(request) || headers.has('set-cookie') || headers.has('refresh'))
    return response
  const content = new Uint8Array(await response.arrayBuffer())
  if (content.length < shortest) return new Response(content, { status, headers })
  headers.set('content-encoding', 'gzip')
  return new Response(Bun.gzipSync(content, { level: 5 }), { status, headers })
}

/** The reader followed a link on this site, sent a form of it, or typed the address. Old browsers do not say so. */
const isAskedByReader = ({ headers }: Request): boolean =>
  ['same-origin', 'none'].includes(headers.get('sec-fetch-site') ?? '')
