import { client } from './openapi/client.gen'
import { client as builder } from './openapi-builder/client.gen'
import { putUser } from './openapi-builder/sdk.gen'
import { createVersion, identifyApp, issueAppToken, issueUserTokens, listVersions } from './openapi/sdk.gen'

// The same as `with-openapi-fetch.ts`, with functions made by another generator.

declare const process: { readonly env: Readonly<Record<string, string>> }
const {
  BASE_URL: baseUrl = '',
  CLIENT_ID: clientId = '',
  CLIENT_SECRET: clientSecret = '',
  SERVICE_KEY: serviceKey = '',
} = process.env
client.setConfig({ baseUrl })
const headers = { 'X-Service-Api-Version': '2026-08' } as const

const issued = await issueAppToken({ headers, body: { clientId, clientSecret, scope: 'site:read' } })
if (issued.data === undefined) throw new Error('no token')
const auth = issued.data.accessToken
const seconds: number = issued.data.expiresIn
const me = await identifyApp({ headers, auth })
const created = await createVersion({
  headers: { ...headers, 'Idempotency-Key': 'generated-1' },
  auth,
  body: { version: '1.0.0', notes: 'By a generated client', scopes: ['site:read'] },
})
const listed = await listVersions({ headers, auth, query: { limit: 5 } })
const refused = await issueUserTokens({
  headers,
  body: { grantType: 'refresh_token', clientId, clientSecret, refreshToken: 'x' },
})

builder.setConfig({ baseUrl })
const person = await putUser({
  auth: serviceKey,
  path: { externalId: 'u1' },
  body: { email: 'ada@builder.example', name: 'Ada' },
})

console.log(
  JSON.stringify({
    seconds,
    slug: me.data?.slug,
    status: created.data?.status,
    versions: listed.data?.data.map(({ version }) => version) ?? [],
    refused: refused.error?.error.code,
    wrong: 'refresh_token',
    person: person.data?.externalId,
  }),
)
