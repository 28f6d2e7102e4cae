import { expect } from 'bun:test'
import { byNode } from './support/client-process.ts'
import { createProxiedWorld, endProxiedWorld, type ProxiedWorld } from './support/proxied-world.ts'
import { needs } from '../support/needs.ts'

const { afterAll, beforeAll, test } = needs('nginx', 'openssl', 'node')

let world: ProxiedWorld
beforeAll(async () => void (world = await createProxiedWorld()))
afterAll(async () => await endProxiedWorld(world))

test('a client that knows only the URL of the API can discover its authorization server', async () => {
  const resource = `${world.publicUrl}/api/app-platform`
  const command = await byNode('resource-with-oauth4webapi.mjs')()
  const child = Bun.spawn([...command], {
    env: { PATH: process.env['PATH'] ?? '', NODE_EXTRA_CA_CERTS: world.authority, RESOURCE: resource },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({
    resource: { resource, authorization_servers: [world.publicUrl], bearer_methods_supported: ['header'] },
    as: { issuer: world.publicUrl, protected_resources: [resource], token_endpoint: `${world.publicUrl}/oauth/token` },
  })
})
