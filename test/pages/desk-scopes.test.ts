import { expect, test } from 'bun:test'
import { addScope } from '../../src/operations/scopes/scopes.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { appToken } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile()
const desk = await signedInBrowser(world.server.url, world.operator)

const list = '/desk/scopes'
const form = `${list}/new`
const words = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const filled = { name: 'orders:read', text: 'List your orders', usableBy: 'user', restricted: 'no' }

test('a scope is added, listed, offered to apps, and retired after a question that says what ends', async () => {
  const added = await desk.submit(form, form, filled)
  const path = new URL(added.headers.get('location') ?? '', world.server.url).pathname
  expect(path).toBe(`${list}/orders%3Aread`)
  expect(words((await desk.get(list)).text)).toContain('List your orders')
  expect((await desk.get(`/desk/apps/${world.app.slug}/settings/scopes`)).text).toContain('value="orders:read"')
  const question = words((await desk.get(`${path}/retire`)).text)
  expect(question).toContain('the name is never used again')
  expect((await desk.submit(`${path}/retire`, `${path}/retire`, {})).status).toBe(303)
  expect(words((await desk.get(path)).text)).toContain('Retired')
  expect((await desk.get(`/desk/apps/${world.app.slug}/settings/scopes`)).text).not.toContain('value="orders:read"')
  expect((await desk.get(`${list}/other%3Aread`)).status).toBe(404)
})

test('all errors of the form come at once, and what was typed stays', async () => {
  const refused = await desk.submit(form, form, { ...filled, name: 'Site:read', text: 'two\u202elines' })
  expect(refused.status).toBe(400)
  for (const field of ['name', 'text']) expect(refused.text).toContain(`id="${field}-fault"`)
  expect(refused.text).toContain('value="Site:read"')
})

test('a restricted scope is given to an app on its page, and taken back after a question', async () => {
  const name = 'stock:write'
  const scope = { name, text: 'Change your stock', usableBy: 'both', isRestricted: null } as const
  await addScope(world.platform, trace, commandLine, scope)
  const settings = `/desk/apps/${world.app.slug}/settings`
  const scopes = ['site:read', name]
  const refused = await desk.submit(settings, `${settings}/scopes`, { scopes })
  expect([refused.status, words(refused.text)]).toEqual([403, expect.stringContaining('an operator has to give it')])
  expect((await desk.submit(settings, `${settings}/given-scopes`, { scope: name })).status).toBe(303)
  expect((await desk.submit(settings, `${settings}/scopes`, { scopes })).status).toBe(303)
  const token = await appToken(world.server.url, world.app.development, name)
  expect(token).toStartWith('apat_')
  const take = `${settings}/given-scopes/take?scope=${encodeURIComponent(name)}`
  expect(words((await desk.get(take)).text)).toContain('Change your stock')
  const taken = await desk.submit(take, `${settings}/given-scopes/take`, { scope: name })
  expect(taken.status).toBe(303)
  const me = await fetch(`${world.server.url}/api/app-platform/me`, {
    headers: { Authorization: `Bearer ${token}`, 'X-Service-Api-Version': '2026-08' },
  })
  expect(me.status).toBe(401)
  expect((await desk.get(`${settings}/given-scopes/take?scope=${name}`)).status).toBe(404)
})
