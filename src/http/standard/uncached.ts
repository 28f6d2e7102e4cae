/** RFC 6749 section 5.1: on every answer with tokens, and on every other of these endpoints. */
const uncachedHeaders = { 'cache-control': 'no-store', pragma: 'no-cache' } as const

type Head = { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

/** An answer in JSON that nobody keeps. */
export const uncachedJson = (body: unknown, { status = 200, headers = {} }: Head = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...uncachedHeaders, ...headers },
  })

/** An answer that says all by its status. */
export const uncachedEmpty = (): Response => new Response(null, { headers: uncachedHeaders })
