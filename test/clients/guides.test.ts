import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { guide } from '../support/documents.ts'

const libraries = await guide('develop/oauth-libraries')

/** The lines of a script that the guide shows. */
const shown = async (script: string): Promise<string> => {
  const text = await Bun.file(join(import.meta.dir, script)).text()
  return text.match(/region guide\n([\s\S]*?)\n.*endregion\n/)?.[1]?.trim() ?? ''
}

test.each([
  'with-openid-client.mjs',
  'with-oauth4webapi.mjs',
  'with_authlib.py',
  'with_requests_oauthlib.py',
  'stock/simple-oauth2.mjs',
])('the guide shows the tested code of %s', async (script) => {
  const lines = await shown(script)
  expect(lines.length).toBeGreaterThan(500)
  expect(libraries).toContain(lines)
})

test.each(['auth-js-provider.mjs', 'better-auth.mjs', 'grant.mjs', 'bell.mjs'])(
  'the guide to sign-in libraries shows the tested code of %s',
  async (script) => {
    const lines = await shown(`stock/${script}`)
    expect(lines.length).toBeGreaterThan(400)
    expect(await guide('develop/sign-in-libraries')).toContain(lines)
  },
)

test('the guide shows the webhook receiver that is tested', async () => {
  const receiver = await Bun.file(join(import.meta.dir, 'webhook-receiver.mjs')).text()
  expect(await guide('develop/webhook-events')).toContain(receiver)
})
