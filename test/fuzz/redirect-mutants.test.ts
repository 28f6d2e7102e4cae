import { expect, test } from 'bun:test'
import { addRedirectUri } from '../../src/operations/redirect-uris.ts'
import { codeForm, sendForm } from '../flows/support/standard.ts'
import { askPath, look } from '../pages/support/front-door.ts'
import { call, codeOf } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { patience, rounds, seed, seeded } from '../support/proof.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { authorize, authorizeBody, exchangeBody, signIn } from '../support/world.ts'
import { redirectMutants } from './support/redirect-mutations.ts'

const count = rounds(300)
/** Mutants that one code is tried with: it lives for five minutes. */
const perCode = 250

const world = await worldOfFile()
const { url } = world.server
const session = await signIn(url, world.user)
const { app, platform } = world
const more = [
  `https://${app.slug}.example:8443/oauth/callback?tenant=42&x=%2F`,
  `https://${app.slug}.example`,
  'https://xn--bcher-kva.example/a%20b;v=1/~me/cb?q=a+b',
  'https://[::1]:3443/cb',
]
for (const uri of more)
  await addRedirectUri(platform, trace, operator, { slug: app.slug, environment: 'development', uri })
const registered = [app.redirectUri, ...more]

/** Why the page for people did more than say no; null when it did not. */
const faultOfPage = async (mutant: string, who: string | null): Promise<string | null> => {
  const { status, location, text } = await look(url, askPath(world.app, { redirect_uri: mutant }), who)
  if (status !== 400 || location !== null) return `the page answers ${status}`
  const links = [...text.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, target = '']) => target)
  // A member of the app is led to its redirect URIs.
  const own = `/console/${world.app.slug}/redirect-uris?environment=development`
  const away = links.filter((target) => target !== own && !/^\/(?:assets\/[a-z0-9.]+)?$|^#main$|^data:,$/.test(target))
  return away.length === 0 && !text.includes('<form') && !text.includes('http-equiv') ? null : 'the page leads away'
}

const faultOfCall = async (mutant: string): Promise<string | null> => {
  const body = { ...authorizeBody(world.app), redirectUri: mutant }
  const answer = await call(url, 'POST', '/oauth/authorize', { token: session, body })
  // What is no text at all, the reader of the body refuses.
  const expected = mutant.isWellFormed() && !mutant.includes('\0') ? 'invalid_redirect_uri' : 'invalid_json'
  return answer.status === 400 && codeOf(answer) === expected
    ? null
    : `the call answers ${answer.status} ${codeOf(answer)}`
}

const faultOfExchange = async (mutant: string, code: string): Promise<string | null> => {
  const body = { ...exchangeBody(world.app, code), redirectUri: mutant }
  const answer = await call(url, 'POST', '/oauth/token', { body })
  if (![400, 401].includes(answer.status)) return `the exchange answers ${answer.status} ${codeOf(answer)}`
  const { clientId, clientSecret } = world.app.development
  const form = { ...codeForm(world.app, code), redirect_uri: mutant, client_id: clientId, client_secret: clientSecret }
  const { status, body: told } = await sendForm(url, '/oauth/token', form)
  return status === 400 && told.access_token === undefined ? null : `the standard exchange answers ${status}`
}

test(
  `none of ${count} mutations of registered redirect URIs is accepted or spends a code`,
  async () => {
    const mutants = [...redirectMutants(registered, count, seeded(seed))]
    const faults: string[] = []
    for (let start = 0; start < mutants.length; start += perCode) {
      const code = await authorize(url, session, world.app)
      const waiting = mutants.slice(start, start + perCode)
      const work = async (): Promise<void> => {
        for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
          const who = waiting.length % 2 === 0 ? session : null
          const found = [await faultOfPage(mutant, who), await faultOfCall(mutant), await faultOfExchange(mutant, code)]
          const told = found.filter((fault) => fault !== null)
          if (told.length > 0) faults.push(`${JSON.stringify(mutant)}: ${told.join(', ')} (seed ${seed})`)
        }
      }
      await Promise.all(Array.from({ length: 8 }, work))
      // It was the URI alone that was wrong, every time.
      expect((await call(url, 'POST', '/oauth/token', { body: exchangeBody(world.app, code) })).status).toBe(200)
    }
    expect(faults).toEqual([])
  },
  patience,
)
