import { expect, test } from 'bun:test'
import type { Json } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { basic, codeForm, freshCode, inBody, introspected, refreshForm, sendForm } from './support/standard.ts'

// The requests of widespread clients, as they send them on the wire: each was run against the server, and needs no workaround.

const world = await worldOfFile()
const { url } = world.server
const { development } = world.app

/** Where a client puts its credentials in a request, and what it adds. */
type Way = { readonly form?: Readonly<Record<string, string>>; readonly headers?: Readonly<Record<string, string>> }
type Client = { readonly exchange: Way; readonly refresh: Way; readonly revoke: Way }

const inForm: Way = { form: inBody(development) }
const inHeader: Way = { headers: basic(development) }
const metadata: Json = await (await fetch(`${url}/.well-known/oauth-protected-resource/api/app-platform`)).json()
const resource = { resource: metadata.resource }
const json = { Accept: 'application/json' }

const clients: Readonly<Record<string, Client>> = {
  'oauth2 for Ruby': { exchange: inForm, refresh: inForm, revoke: inForm },
  // It tries the header first.
  'x/oauth2 for Go': { exchange: inHeader, refresh: inHeader, revoke: inHeader },
  'openid-client 6': {
    exchange: { ...inForm, headers: json },
    refresh: { ...inForm, headers: json },
    revoke: { ...inForm, headers: json },
  },
  // It names the resource that the metadata of the API name (RFC 8707).
  'the MCP SDK': {
    exchange: { headers: { ...basic(development), ...json }, form: resource },
    refresh: { headers: { ...basic(development), ...json }, form: resource },
    revoke: inForm,
  },
  // Both methods at once on revocation.
  'expo-auth-session': {
    exchange: { headers: { ...basic(development), Accept: 'application/json, text/javascript; q=0.01' } },
    refresh: { headers: { ...basic(development), Accept: 'application/json, text/javascript; q=0.01' } },
    revoke: { headers: basic(development), form: { ...inBody(development), token_type_hint: 'access_token' } },
  },
}

const ask = async (path: string, way: Way, form: Readonly<Record<string, string>>) =>
  await sendForm(url, path, { ...form, ...way.form }, way.headers)

test.each(Object.keys(clients))('%s exchanges, refreshes and revokes', async (name) => {
  const client = clients[name]
  if (client === undefined) throw new Error('no such client')
  const first = await ask('/oauth/token', client.exchange, codeForm(world.app, await freshCode(world)))
  expect(first).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } })
  const second = await ask('/oauth/token', client.refresh, refreshForm(first.body.refresh_token))
  expect(second.status).toBe(200)
  expect((await introspected(world, first.body.access_token)).active).toBe(false)
  expect((await introspected(world, second.body.access_token)).active).toBe(true)
  expect((await ask('/oauth/revoke', client.revoke, { token: second.body.access_token })).status).toBe(200)
  expect((await introspected(world, second.body.access_token)).active).toBe(false)
  const after = await ask('/oauth/token', client.refresh, refreshForm(second.body.refresh_token))
  expect(after).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})
