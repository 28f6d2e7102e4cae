// region sites
import { createHash, randomBytes } from 'node:crypto'

const { ISSUER = 'http://localhost:3000', APP_URL = 'https://localhost:8443', CERTIFICATES = '.' } = process.env
const { CLIENT_ID = '', CLIENT_SECRET = '', SCOPE = 'profile:read site:read' } = process.env
const redirectUri = `${APP_URL}/callback`
const random = () => randomBytes(32).toString('base64url')

const call = async (path: string, { token = '', body }: { token?: string; body?: object }) => {
  const headers = new Headers({ 'X-Service-Api-Version': '2026-08', 'Content-Type': 'application/json' })
  if (token !== '') headers.set('Authorization', `Bearer ${token}`)
  const asked = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${ISSUER}/api/app-platform${path}`, { ...asked, headers })
  const answer = JSON.parse(await response.text())
  if (response.status === 401) forgetToken(token) // access has ended, so the user is asked again
  if (!response.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`)
  return answer
}

type Routes = Record<string, (request: Bun.BunRequest) => Response | Promise<Response>>
const routes: Routes = {}

/** Who is signed in, by the cookie of their browser. For real, in your database, with the refresh token. */
const sessions = new Map<string, { userId: string; token: string }>()
const sessionOf = ({ cookies }: Bun.BunRequest) => sessions.get(cookies.get('session') ?? '')
const forgetToken = (token: string) => {
  for (const [cookie, session] of sessions) if (session.token === token) sessions.delete(cookie)
}
const cookie = { httpOnly: true, secure: true, sameSite: 'lax', maxAge: 600 } as const

// State and verifier stay in the browser that is sent to the server, so that only this browser can come back with them.
const begin = ({ cookies }: Bun.BunRequest) => {
  const [state, verifier] = [random(), random()]
  cookies.set('started', `${state}.${verifier}`, cookie)
  const url = new URL('/oauth/authorize', ISSUER)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: redirectUri,
    scope: SCOPE,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  return Response.redirect(url.href)
}

routes['/callback'] = async ({ url, cookies }) => {
  const answer = new URL(url).searchParams
  const [state, codeVerifier] = cookies.get('started')?.split('.') ?? []
  if (state === undefined || answer.get('state') !== state) throw new Error('This browser did not start here.')
  if (answer.get('iss') !== ISSUER) throw new Error('This answer is from another server.')
  if (answer.has('error')) throw new Error(answer.get('error') ?? '')
  const client = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }
  const code = { grantType: 'authorization_code', code: answer.get('code'), redirectUri, codeVerifier }
  const { accessToken: token } = await call('/oauth/token', { body: { ...client, ...code } })
  const session = random()
  sessions.set(session, { userId: (await call('/oauth/me', { token })).id, token })
  cookies.set('session', session, cookie)
  cookies.delete('started')
  return Response.redirect(APP_URL)
}

routes['/'] = async (request) => {
  const session = sessionOf(request)
  if (session === undefined) return begin(request)
  return Response.json(await call('/resources?kind=site', session))
}
// endregion

// region pages
const { BUILDER = 'http://localhost:4000' } = process.env

/** The websites on which this user has installed the app, with their pages from the builder's own API. */
routes['/pages'] = async (request) => {
  const session = sessionOf(request)
  if (session === undefined) return begin(request)
  const { data } = await call('/installs?kind=site&state=active', session)
  const pagesOf = async ({ resource }: { resource: { id: string } }) => {
    const headers = { Authorization: `Bearer ${session.token}` }
    const response = await fetch(`${BUILDER}/api/sites/${encodeURIComponent(resource.id)}/pages`, { headers })
    return response.ok ? JSON.parse(await response.text()) : { refused: response.status }
  }
  return Response.json(await Promise.all(data.map(pagesOf)))
}
// endregion

// region frame
const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Page List</title><p id="who"></p><script type="module">
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  history.replaceState(null, '', location.pathname)
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ clientId: '${CLIENT_ID}', code })
  const answer = await fetch('${ISSUER}/api/embedded/session', { method: 'POST', headers, body })
  const { sessionToken } = await answer.json()
  const own = await fetch('/frame/who', { headers: { Authorization: 'Bearer ' + sessionToken } })
  document.querySelector('#who').textContent = await own.text()
</script></html>`

routes['/frame'] = () => {
  const policy = `frame-ancestors ${ISSUER}`
  return new Response(page, { headers: { 'Content-Type': 'text/html', 'Content-Security-Policy': policy } })
}

/** The backend asks the server whose session the page has. What the page itself says about that proves nothing. */
routes['/frame/who'] = async ({ headers }) => {
  const token = headers.get('Authorization')?.replace('Bearer ', '') ?? ''
  const client = Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')
  const asked = { method: 'POST', headers: { Authorization: `Basic ${client}` }, body: new URLSearchParams({ token }) }
  const session = JSON.parse(await (await fetch(`${ISSUER}/oauth/introspect`, asked)).text())
  if (session.active !== true || session.token_type !== 'embedded_session') return new Response(null, { status: 401 })
  return Response.json({ user: session.sub, site: session.resource.id })
}
// endregion

// region webhooks
import { createHmac, timingSafeEqual } from 'node:crypto'

const { WEBHOOK_SECRET = '' } = process.env
/** What the app keeps, here in memory: where it is installed, when things ended, and which events it has seen. */
const installs = new Map<string, { userId: string; place: string; since: string }>()
const ends = new Map<string, string>()
const seen = new Set<string>()

/** Standard Webhooks: an HMAC of the ID, the time and the body; two of them while the secret is rotated. */
const isFromPlatform = (headers: Headers, body: string): boolean => {
  const [id, time, signatures = ''] = ['id', 'timestamp', 'signature'].map(
    (name) => headers.get(`webhook-${name}`) ?? '',
  )
  const key = Buffer.from(WEBHOOK_SECRET.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest()
  const isSame = (given: Buffer) => given.length === expected.length && timingSafeEqual(given, expected)
  const isRecent = Math.abs(Date.now() / 1000 - Number(time)) < 300
  return key.length > 0 && isRecent && signatures.split(' ').some((one) => isSame(Buffer.from(one.slice(3), 'base64')))
}

/** An install, a person or a website has ended. Later events may overtake the retry of an earlier one, so the times decide. */
const end = (thing: string, at: string): void => {
  if ((ends.get(thing) ?? '') < at) ends.set(thing, at)
  for (const [id, { userId, place, since }] of installs)
    if ([id, userId, place].includes(thing) && since < at) installs.delete(id)
}

routes['/webhooks'] = async (request) => {
  const body = await request.text()
  if (!isFromPlatform(request.headers, body)) return new Response(null, { status: 400 })
  const { id, type, timestamp, data } = JSON.parse(body)
  if (seen.has(id)) return new Response(null, { status: 204 }) // the same event may come twice
  const { installId, userId } = data
  const place = `${data.kind} ${data.resourceId}`
  const isCurrent = [installId, userId, place].every((thing) => (ends.get(thing) ?? '') < timestamp)
  if (type === 'install.approved' && isCurrent) installs.set(installId, { userId, place, since: timestamp })
  if (type === 'install.deactivated') end(installId, timestamp)
  if (type === 'resource.removed') end(place, timestamp)
  if (type === 'user.erased') {
    end(userId, timestamp)
    for (const [cookie, session] of sessions) if (session.userId === userId) sessions.delete(cookie)
  }
  seen.add(id)
  console.log(`${type}: installed on ${[...installs.values()].map(({ place }) => place).join(', ') || 'nothing'}`)
  return new Response(null, { status: 204 })
}
// endregion

// region serve
const tls = { cert: Bun.file(`${CERTIFICATES}/localhost.pem`), key: Bun.file(`${CERTIFICATES}/localhost-key.pem`) }
const error = (cause: Error) => new Response(cause.message, { status: 400 })
Bun.serve({ port: new URL(APP_URL).port, tls, routes, error })
console.log(APP_URL)
// endregion
