import { expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { emptyPlace, setTraps } from './support/empty-place.ts'

test('the binary is all that an operator needs: every kind of command works in an empty folder', async () => {
  const { folder, json } = await emptyPlace()
  expect((await json(['migrate'])).applied).toEqual(['initial'])
  const user = ['--email', 'ada@example.com', '--name', 'Ada Example']
  expect((await json(['user', 'create', ...user, '--password-stdin'], 'correct horse battery')).email).toBe(
    'ada@example.com',
  )
  const app = ['--owner', 'ada@example.com', '--name', 'Newsletter', '--slug', 'newsletter', '--scopes', 'site:read']
  await json(['app', 'create', ...app])
  const { id: credentialId } = await json(['credential', 'create', 'newsletter', '--environment', 'production'])
  await json(['redirect', 'add', 'newsletter', '--environment', 'production', 'https://app.example/callback'])
  const site = { owner: 'ada@example.com', kind: 'site', name: 'Home', slug: 'home', status: 'published' }
  expect(await json(['resource', 'import', '-'], JSON.stringify(site))).toMatchObject({ created: 1, updated: 0 })
  const where = ['--user', 'ada@example.com', '--kind', 'website', '--resource', 'home']
  const { id } = await json(['install', 'create', 'newsletter', ...where])
  await json(['install', 'approve', id])
  await json(['backup', 'copy.db'])
  await json(['credential', 'revoke', credentialId])
  expect((await json(['restore', 'copy.db'])).carriedOver.credentials).toBe(1)
  await json(['check'])
  await json(['purge'])
  expect((await json(['review', 'list', 'newsletter'])).data).toEqual([])
  expect((await json(['audit', 'list'])).data.length).toBeGreaterThan(7)
  // What it made is private, and nothing else lies about.
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'data'])
  expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700)
})

test('a folder full of .env, bunfig.toml, package.json and node_modules changes nothing about the binary', async () => {
  const { folder, run } = await emptyPlace()
  const before = await run(['--version'])
  setTraps(folder)
  const { exitCode, stdout, stderr } = await run(['seed', '--json'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(JSON.parse(stdout).users).toHaveLength(2)
  expect(await run(['--version'])).toEqual(before)
  expect(existsSync(join(folder, 'sprung'))).toBe(false)
  expect(existsSync(join(folder, 'data', 'app-platform.db'))).toBe(true)
})

test('a failure is told in a sentence by the binary too, without a piece of its source', async () => {
  const { run } = await emptyPlace()
  const { exitCode, stdout, stderr } = await run(['app', 'list'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^error: There is no database at [^\n]+\n$/)
})

test('where no temporary folder takes the code that hashes passwords, the binary says so, and does all the rest', async () => {
  const { json, run } = await emptyPlace({ BUN_TMPDIR: '/proc', TMPDIR: '/proc' })
  await json(['migrate'])
  expect((await json(['user', 'list'])).data).toEqual([])
  const user = ['user', 'create', '--email', 'ada@example.com', '--name', 'Ada', '--generate-password']
  for (const words of [user, ['serve', '--port', '0']]) {
    const { exitCode, stdout, stderr } = await run(words)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^error: Passwords cannot be hashed: [^\n]+ BUN_TMPDIR\.\n$/)
  }
})
