import { argv } from 'node:process'

/**
 * The upper limit: Bun.serve alone. A GET is answered with a constant, and so is a POST after its body is read and parsed.
 * The answers, with all their headers, are those that the platform gave to the same requests.
 */
const [, , file = ''] = argv
type Answer = { readonly status: number; readonly body: string; readonly headers: Record<string, string> }
const answers: readonly (readonly [path: string, answer: Answer])[] = await Bun.file(file).json()
const byPath = new Map(
  answers.map(([path, { status, body, headers }]) => [
    path,
    { body: status === 204 ? null : body, init: { status, headers } },
  ]),
)

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: async (request) => {
    const answer = byPath.get(request.url.slice(request.url.indexOf('/', 8)))
    if (answer === undefined) return new Response(null, { status: 404 })
    if (request.method === 'POST') {
      // The text of a form is read; its few fields cost too little to matter.
      if (request.headers.get('content-type') === 'application/json') await request.json()
      else await request.text()
    }
    return new Response(answer.body, answer.init)
  },
})
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.port}` })}\n`)
