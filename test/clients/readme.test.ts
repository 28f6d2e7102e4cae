import { expect, test } from 'bun:test'
import { join } from 'node:path'

const readme = await Bun.file(join(import.meta.dir, '../../README.md')).text()

/** The lines of a script that the README shows. */
const shown = async (script: string): Promise<string> => {
  const text = await Bun.file(join(import.meta.dir, script)).text()
  return text.match(/region readme\n([\s\S]*?)\n.*endregion\n/)?.[1]?.trim() ?? ''
}

test.each(['with-openid-client.mjs', 'with-oauth4webapi.mjs', 'with_authlib.py', 'with_requests_oauthlib.py'])(
  'the README shows the tested code of %s',
  async (script) => {
    const lines = await shown(script)
    expect(lines.length).toBeGreaterThan(500)
    expect(readme).toContain(lines)
  },
)
