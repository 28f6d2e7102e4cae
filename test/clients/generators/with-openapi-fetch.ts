import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.js'
import type { paths as BuilderPaths } from './openapi-builder.js'

// What an app does first, and what the builder does first, with clients made from their OpenAPI documents. They are compiled
// strictly and then run.

declare const process: { readonly env: Readonly<Record<string, string>> }
const {
  BASE_URL: baseUrl = '',
  CLIENT_ID: clientId = '',
  CLIENT_SECRET: clientSecret = '',
  SERVICE_KEY: serviceKey = '',
} = process.env
const client = createClient<paths>({ baseUrl })
const header = { 'X-Service-Api-Version': '2026-08' } as const

const issued = await client.POST('/api/app-platform/token', {
  params: { header },
  body: { clientId, clientSecret, scope: 'site:read' },
})
if (issued.data === undefined) throw new Error(issued.error.error.code)
const authorized = { Authorization: `Bearer ${issued.data.accessToken}` }
const seconds: number = issued.data.expiresIn

const me = await client.GET('/api/app-platform/me', { params: { header }, headers: authorized })
const created = await client.POST('/api/app-platform/versions', {
  params: { header: { ...header, 'Idempotency-Key': 'generated-1' } },
  headers: authorized,
  body: { version: '1.0.0', notes: 'By a generated client', scopes: ['site:read'] },
})
const listed = await client.GET('/api/app-platform/versions', {
  params: { header, query: { limit: 5 } },
  headers: authorized,
})
const versions: readonly components['schemas']['Version'][] = listed.data?.data ?? []

const refresh: components['schemas']['TokenRequest'] = {
  grantType: 'refresh_token',
  clientId,
  clientSecret,
  refreshToken: 'x',
}
// @ts-expect-error A refresh has no code.
const wrong: components['schemas']['TokenRequest'] = { grantType: 'refresh_token', clientId, clientSecret, code: 'x' }
const refused = await client.POST('/api/app-platform/oauth/token', { params: { header }, body: refresh })

const builder = createClient<BuilderPaths>({ baseUrl, headers: { Authorization: `Bearer ${serviceKey}` } })
const person = await builder.PUT('/api/management/users/{externalId}', {
  params: { path: { externalId: 'u1' } },
  body: { email: 'ada@builder.example', name: 'Ada' },
})

console.log(
  JSON.stringify({
    seconds,
    slug: me.data?.slug,
    status: created.data?.status,
    versions: versions.map(({ version }) => version),
    refused: refused.error?.error.code,
    wrong: wrong.grantType,
    person: person.data?.externalId,
  }),
)
