import { type Neighbour, settleNeighbour } from './neighbours.ts'

/** What the page of the sample app shows, as the test reads it. */
export type SampleApp = {
  readonly origin: string
  /** Every request that reached the app's own server: its path and query, and what its browser sent along. */
  readonly requests: readonly { readonly url: string; readonly referrer: string | null; readonly body: string }[]
}

/**
 * An app with a page for the builder, on `https://<host>`: static files, no backend, no secret. Its page takes the code out of
 * the fragment, gets its session, says who is there and lists their websites; one button calls again, one renews.
 */
export const startSampleApp = (
  host: string,
  { clientId, builder }: { readonly clientId: string; readonly builder: string },
): SampleApp => {
  const requests: { url: string; referrer: string | null; body: string }[] = []
  const answer: Neighbour = async (request) => {
    const { pathname, search } = new URL(request.url)
    requests.push({ url: pathname + search, referrer: request.headers.get('referer'), body: await request.text() })
    const isScript = pathname === '/app.js'
    const type = isScript ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8'
    return new Response(isScript ? scriptOf(clientId, builder) : page, { headers: { 'content-type': type } })
  }
  settleNeighbour(host, answer)
  return { origin: `https://${host}`, requests }
}

const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sample app</title><link rel="icon" href="data:,">
<h1>Sample app</h1><p id="who"></p><ul id="sites"></ul><p id="state">Starting</p>
<button id="again">Call again</button><button id="renew">Renew</button><button id="escape">Escape</button>
<script src="/app.js"></script></html>`

/** What an app's developer writes; the builder's origin and the client ID are public. */
const scriptOf = (clientId: string, builder: string): string => `
const builder = ${JSON.stringify(builder)}
const clientId = ${JSON.stringify(clientId)}
let session = null

const show = (id, text) => { document.getElementById(id).textContent = text }

const start = async (code) => {
  const answer = await fetch(builder + '/api/embedded/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ clientId, code }),
  })
  if (!answer.ok) return show('state', 'Refused: ' + (await answer.json()).error.code)
  session = await answer.json()
  await look()
}

const read = async (path) => {
  const headers = { Authorization: 'Bearer ' + session.sessionToken, 'X-Service-Api-Version': '2026-08' }
  const answer = await fetch(builder + '/api/app-platform' + path, { headers })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.error.code)
  return body
}

let looks = 0
const look = async () => {
  try {
    show('who', (await read('/oauth/me')).name)
    const { data } = await read('/resources?kind=site')
    show('sites', data.map(({ slug }) => slug).join(' '))
    looks += 1
    show('state', 'Working ' + looks)
  } catch (error) {
    show('state', 'Stopped: ' + error.message)
  }
}

window.addEventListener('message', (event) => {
  if (event.origin !== builder || event.source !== parent) return
  if (event.data.type === 'app-platform:code') start(event.data.code)
  if (event.data.type === 'app-platform:code-refused') show('state', 'No more codes')
})
document.getElementById('again').addEventListener('click', look)
document.getElementById('renew').addEventListener('click', () => {
  parent.postMessage({ type: 'app-platform:code-request' }, builder)
})
document.getElementById('escape').addEventListener('click', () => {
  let moved = 'no'
  try { top.location.href = 'https://elsewhere.example/'; moved = 'asked' } catch {}
  let opened = false
  try { opened = window.open('https://elsewhere.example/') !== null } catch {}
  let read = false
  try { read = parent.document.body !== null } catch {}
  show('state', 'Moved ' + moved + ', opened ' + opened + ', read ' + read)
})

const code = new URLSearchParams(location.hash.slice(1)).get('code')
history.replaceState(null, '', location.pathname)
start(code)
`
