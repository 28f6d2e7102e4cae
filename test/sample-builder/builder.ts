/**
 * A website and store builder as small as it can be: its own users and sites in memory, its own sign-in, and what joins it to App
 * Platform: it sends users and sites, signs people in, names a scope of its own, and checks the tokens of apps at its own API.
 */
import { randomBytes } from 'node:crypto'

type Person = { readonly id: string; readonly name: string; readonly email: string }
type Site = { readonly id: string; readonly owner: string; name: string; readonly slug: string }

// region api
const pages = ['Home', 'Opening hours']

/** Asks App Platform whether the app of a token may do this on this website now. Answers with the refusal, or null. */
const refusalOf = async (request: Request, platform: string, asked: Record<string, string>) => {
  const headers = { Authorization: request.headers.get('Authorization') ?? '' }
  const check = await fetch(`${platform}/oauth/check?${new URLSearchParams(asked).toString()}`, { headers })
  return check.status === 204 ? null : new Response(await check.text(), { status: check.status })
}

/** The pages of a website, for apps that have the builder's own scope and are installed on it. */
export const apiFor = (platform: string, environment = 'production') => ({
  '/api/sites/:id/pages': async (request: Bun.BunRequest<'/api/sites/:id/pages'>) => {
    const { id } = request.params
    const refusal = await refusalOf(request, platform, { scope: 'pages:read', resource: `site:${id}`, environment })
    return refusal ?? Response.json({ site: id, pages })
  },
})
// endregion

export type SampleBuilderOptions = {
  readonly port: number
  /** Where App Platform is. */
  readonly platform: string
  readonly serviceKey: string
}

/** Starts the builder. It is reached at `url`. */
export const startSampleBuilder = ({ port, platform, serviceKey }: SampleBuilderOptions) => {
  const people: Person[] = [
    { id: 'u-1', name: 'Ines Baker', email: 'ines@builder.example' },
    { id: 'u-2', name: 'Omar Potter', email: 'omar@builder.example' },
  ]
  const sites: readonly Site[] = [
    { id: 's-1', owner: 'u-1', name: 'Bakery', slug: 'bakery' },
    { id: 's-2', owner: 'u-2', name: 'Pottery', slug: 'pottery' },
  ]
  /** Signed-in browsers, by their cookie. */
  const sessions = new Map<string, Person>()
  /** Requests of App Platform for which somebody has just signed in. */
  const asked = new Set<string>()
  const personOf = (request: Request): Person | null =>
    sessions.get(/(?:^|; )builder=([0-9a-f]+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? '') ?? null
  /** The list of people to choose from. Passwords are left out: this is about what comes after. */
  const signInPage = (request: string, fault = ''): Response => {
    const options = people.map(({ email, name }) => `<option value="${email}">${name}</option>`).join('')
    const asked = /^[0-9A-Za-z_]*$/.test(request) ? request : ''
    const form = `<p>${fault}</p><form method="post" action="/sign-in"><input type="hidden" name="request" value="${asked}">
    <label for="email">Who are you?</label> <select id="email" name="email">${options}</select> <button>Sign in</button></form>`
    return html('Sign in to the builder', form)
  }

  const manage = async (method: string, path: string, body: object = {}): Promise<Response> =>
    await fetch(`${platform}/api/management${path}`, {
      method,
      headers: { authorization: `Bearer ${serviceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  /** Repeating it changes nothing, so it can be sent whenever something may have changed. */
  const sendEverything = async (): Promise<void> => {
    await expectDone(
      await manage('PUT', '/scopes/pages:read', { for: 'user', text: 'Read the pages of your websites' }),
    )
    for (const { id, name, email } of people) await expectDone(await manage('PUT', `/users/${id}`, { name, email }))
    for (const { id, owner, name, slug } of sites.filter(({ owner }) => people.some(({ id }) => id === owner))) {
      const stated = { ownerExternalId: owner, name, slug, status: 'published' }
      await expectDone(await manage('PUT', `/resources/site/${id}`, stated))
    }
  }

  /** App Platform sends browsers here; the person is signed in, or signs in first. */
  const handOver = async (request: Request, url: URL): Promise<Response> => {
    const person = personOf(request)
    const id = url.searchParams.get('request') ?? ''
    const mustAsk = url.searchParams.get('prompt') === 'login' && !asked.has(id)
    if (person === null || mustAsk) return signInPage(id)
    const answer = await manage('POST', `/sign-in-requests/${encodeURIComponent(id)}/accept`, {
      externalId: person.id,
      reauthenticated: asked.has(id),
    })
    if (!answer.ok) return html('This sign-in has expired', '<p>Begin again at the apps.</p>', 400)
    const { redirectTo }: { redirectTo: string } = JSON.parse(await answer.text())
    return redirect(redirectTo)
  }

  const signIn = async (request: Request): Promise<Response> => {
    const form = new URLSearchParams(await request.text())
    const person = people.find(({ email }) => email === form.get('email'))
    if (person === undefined) return signInPage(form.get('request') ?? '', 'There is no such person.')
    const cookie = randomBytes(16).toHex()
    sessions.set(cookie, person)
    const id = form.get('request') ?? ''
    asked.add(id)
    const next = id === '' ? '/' : `/apps/sign-in?${new URLSearchParams({ request: id }).toString()}`
    return redirect(next, `builder=${cookie}; Path=/; HttpOnly; SameSite=Lax`)
  }

  const signOut = async (request: Request): Promise<Response> => {
    const person = personOf(request)
    for (const [cookie, signedIn] of sessions) if (signedIn === person) sessions.delete(cookie)
    if (person !== null) await manage('POST', `/users/${person.id}/end-access`, { only: 'sessions' })
    return redirect('/')
  }

  /** Every change is sent on, so that App Platform and the apps hear of it. */
  const rename = async (request: Request, person: Person): Promise<Response> => {
    const site = sites.find(({ owner }) => owner === person.id)
    const name = new URLSearchParams(await request.text()).get('name') ?? ''
    if (site === undefined || !/^[\w ]{1,50}$/.test(name)) return redirect('/')
    site.name = name
    await sendEverything()
    return redirect('/')
  }

  const closeAccount = async (person: Person): Promise<Response> => {
    await expectDone(await manage('DELETE', `/users/${person.id}`))
    people.splice(people.indexOf(person), 1)
    for (const [cookie, signedIn] of sessions) if (signedIn === person) sessions.delete(cookie)
    return redirect('/')
  }

  const home = (request: Request): Response => {
    const person = personOf(request)
    if (person === null) return signInPage('')
    const own = sites.filter(({ owner }) => owner === person.id).map(({ name }) => `<li>${name}</li>`)
    const links = `<p><a href="${platform}/installs">Apps on your sites</a></p>`
    const rename = '<label>New name <input name="name"></label> <button>Rename</button>'
    const forms = `<form method="post" action="/rename">${rename}</form>
      <form method="post" action="/sign-out"><button>Sign out</button></form>
      <form method="post" action="/close"><button>Close your account</button></form>`
    return html(`Hello ${person.name}`, `<h2>Your sites</h2><ul>${own.join('')}</ul>${links}${forms}`)
  }

  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    routes: apiFor(platform),
    fetch: async (request) => {
      const url = new URL(request.url)
      const person = personOf(request)
      switch (`${request.method} ${url.pathname}`) {
        case 'GET /':
          return home(request)
        case 'GET /apps/sign-in':
          return await handOver(request, url)
        case 'POST /sign-in':
          return await signIn(request)
        case 'POST /sign-out':
          return await signOut(request)
        case 'POST /rename':
          return person === null ? signInPage('') : await rename(request, person)
        case 'POST /close':
          return person === null ? signInPage('') : await closeAccount(person)
        default:
          return html('Not found', '', 404)
      }
    },
  })
  return {
    url: `http://localhost:${server.port}`,
    sendEverything,
    stop: async () => await server.stop(true),
  }
}

const expectDone = async (answer: Response): Promise<void> => {
  if (!answer.ok) throw new Error(`App Platform refused: ${await answer.text()}`)
}

const redirect = (location: string, cookie?: string): Response =>
  new Response(null, { status: 303, headers: { location, ...(cookie === undefined ? {} : { 'set-cookie': cookie }) } })

const html = (title: string, body: string, status = 200): Response =>
  new Response(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}</html>`,
    {
      status,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    },
  )
