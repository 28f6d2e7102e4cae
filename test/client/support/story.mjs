// A whole flow of an app's backend, as in the guide. Runs on Node and on Bun with the bundled library.
import { createInterface } from 'node:readline'

const { createPlatformClient } = await import(process.env.LIBRARY)
const url = process.env.URL
const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, REDIRECT_URI: redirectUri, ISSUER: issuer } = process.env
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const stored = []
const store = { save: (tokens) => void stored.push(tokens) }
const told = []

const platform = createPlatformClient({ url, issuer, clientId, clientSecret, appScope: 'site:read' })
told.push((await platform.me()).slug)
const version = await platform.versions.create({ version: '1.0.0', notes: 'First' })
const started = await platform.startAuthorization({ redirectUri, scope: 'profile:read site:read' })
console.log(started.url) // the browser goes there and returns with this:
const { value: callbackUrl } = await lines.next()
const user = await platform.finishAuthorization(callbackUrl, started, (tokens) => store.save(tokens))
told.push((await user.me()).name)
for await (const site of user.allResources({ kind: 'site' })) told.push(site.slug)
// Another process, an hour later: the access token has expired.
const kept = { ...stored.at(-1), accessTokenExpiresAt: '2020-01-01T00:00:00.000Z' }
const later = platform.user(JSON.parse(JSON.stringify(kept)), (tokens) => store.save(tokens))
told.push((await later.me()).name)
await later.revoke()
const refused = await later.me().catch((error) => error)
const broken = await createPlatformClient({ url: 'http://127.0.0.1:1', clientId, clientSecret, retry: { repeats: 0 } })
  .endpoints.identifyApp({ bearer: 'apat_x' })
  .catch((error) => error)
console.log(
  JSON.stringify({
    told,
    number: version.number,
    stored: stored.length,
    refused: { name: refused.name, code: refused.code, status: refused.status, requestId: refused.requestId },
    broken: broken.code,
  }),
)
process.exit(0)
