import { acceptsGzip } from '../http/packed.ts'

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
