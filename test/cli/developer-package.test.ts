import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { strToU8, unzipSync, zipSync } from 'fflate'
import { findFiles } from '../../src/cli/developer/package/find-files.ts'
import { pack } from '../../src/cli/developer/package/pack.ts'
import { createSecretScan } from '../../src/cli/developer/package/secret-scan.ts'
import { isSecretName } from '../../src/domain/archive-path.ts'
import { webhookSecretText } from '../../src/operations/webhooks/endpoints.ts'
import { needs, programAt } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createWorld, endWorld, type World } from '../support/world.ts'
import { appFolder, type Developer, pipeline } from './support/developer.ts'

let world: World
let developer: Developer
let counted = 0
beforeAll(async () => {
  world = await createWorld()
  developer = pipeline(world.server.url, world.app.development)
})
afterAll(async () => await endWorld(world))

const fresh = () => `1.0.${(counted += 1)}`
const create = async (source: string, ...words: readonly string[]) =>
  await developer.run(['versions', 'create', source, '--version', fresh(), ...words])
const sumOf = async (source: string, env = {}) =>
  (await developer.json(['versions', 'create', source, '--version', fresh()], env)).artifact.sha256

const privateKey = `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n-----END PRIVATE KEY-----`

/** The names in the archive of a folder. */
const namesIn = async (folder: string): Promise<readonly string[]> => {
  const signal = new AbortController().signal
  const packed = await pack(findFiles(folder).files, { limitBytes: 1e9, onProgress: () => undefined, signal })
  return packed.kind === 'packed' ? Object.keys(unzipSync(packed.bytes)) : [packed.kind]
}

test('the same files give the same archive, at any time, in any time zone and any order', async () => {
  const files = { 'a.txt': 'a', 'b/c.js': 'x'.repeat(200_000), 'ä/ö.txt': 'ü', empty: '' }
  const one = appFolder(files)
  const other = appFolder(Object.fromEntries(Object.entries(files).toReversed()))
  utimesSync(join(other, 'a.txt'), new Date('2001-02-03'), new Date('2001-02-03'))
  chmodSync(join(other, 'a.txt'), 0o600)
  const sum = await sumOf(one, { TZ: 'Pacific/Kiritimati' })
  expect(await sumOf(other, { TZ: 'America/Los_Angeles' })).toBe(sum)
  expect(await sumOf(one)).toBe(sum)
  writeFileSync(join(other, 'a.txt'), 'b')
  expect(await sumOf(other)).not.toBe(sum)
  chmodSync(join(one, 'a.txt'), 0o755)
  expect(await sumOf(one)).not.toBe(sum)
})

needs('python3').test('the archive contains every file unchanged, and another program can read it', async () => {
  const folder = appFolder({ 'run.sh': '#!/bin/sh\n', 'data.bin': randomBytes(300_000), empty: '', 'a b/ü.txt': 'ü' })
  chmodSync(join(folder, 'run.sh'), 0o755)
  const signal = new AbortController().signal
  const { files } = findFiles(folder)
  const packed = await pack(files, { limitBytes: 1e9, onProgress: () => undefined, signal })
  if (packed.kind !== 'packed') throw new Error(packed.kind)
  const unpacked = unzipSync(packed.bytes)
  expect(Object.keys(unpacked)).toEqual(['a b/ü.txt', 'app.json', 'data.bin', 'empty', 'index.html', 'run.sh'])
  for (const { path, source } of files)
    expect(Buffer.from(unpacked[path] ?? []).equals(await Bun.file(source).bytes())).toBe(true)

  const zip = join(temporaryFolder(), 'app.zip')
  writeFileSync(zip, packed.bytes)
  const check =
    'import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nfor i in z.infolist(): print(i.filename, oct(i.external_attr >> 16), i.date_time[0])'
  const python = Bun.spawnSync([programAt('python3'), '-c', check, zip], { stdout: 'pipe', stderr: 'pipe' })
  expect(python.stderr.toString()).toBe('')
  expect(python.stdout.toString()).toContain('run.sh 0o100755 1980')
  expect(python.stdout.toString()).toContain('app.json 0o100644 1980')
})

test('files in .appignore and the default exclusions are left out, and a negated rule includes one again', async () => {
  const folder = appFolder({
    '.appignore': '# tests\n*.test.js\n/build/\n!keep.test.js\nlog[0-9]\n',
    'a.test.js': '',
    'sub/b.test.js': '',
    'keep.test.js': '',
    'build/x.js': '',
    'sub/build/y.js': '',
    log1: '',
    LOG1: '',
    'node_modules/x/index.js': '',
    '.git/config': '',
    'sub/.DS_Store': '',
  })
  expect(await namesIn(folder)).toEqual(['LOG1', 'app.json', 'index.html', 'keep.test.js', 'sub/build/y.js'])
  // A wildcard includes neither the history, with its secrets, nor what only its own name includes.
  for (const rules of ['!.*', '*\n!*/\n!*.js\n!.git/**\n!.git\n!.hg/', '.*\n!.*\n!**']) {
    writeFileSync(join(folder, '.appignore'), rules)
    expect((await namesIn(folder)).filter((name) => /node_modules|\.(?:git|hg|DS_Store|appignore)/.test(name))).toEqual(
      [],
    )
  }
  writeFileSync(join(folder, '.appignore'), '!node_modules\n*.test.js\nbuild\nlog1')
  expect(await namesIn(folder)).toEqual(['LOG1', 'app.json', 'index.html', 'node_modules/x/index.js'])
})

test('a link out of the folder is refused by name; a link inside the folder is packed as its target', async () => {
  const folder = appFolder({ 'real/a.txt': 'a' })
  symlinkSync('real/a.txt', join(folder, 'inside.txt'))
  symlinkSync('real', join(folder, 'folder'))
  expect(await namesIn(folder)).toEqual(['app.json', 'folder/a.txt', 'index.html', 'inside.txt', 'real/a.txt'])
  symlinkSync('/etc/hostname', join(folder, 'out.txt'))
  symlinkSync('../..', join(folder, 'real/up'))
  symlinkSync(`${folder}-other`, join(folder, 'beside'))
  mkdirSync(`${folder}-other`)
  const { exitCode, stdout, stderr } = await create(folder)
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toContain('lead out of')
  expect(stderr).toContain('beside, folder/up, out.txt, real/up')
  writeFileSync(join(folder, '.appignore'), 'beside\nup\nout.txt\n')
  expect((await create(folder)).exitCode).toBe(0)
})

needs('mkfifo').test('pipes, broken links and circular links are refused by name, at once', async () => {
  const folder = appFolder({ 'sub/a.txt': 'a' })
  Bun.spawnSync([programAt('mkfifo'), join(folder, 'pipe')])
  symlinkSync('nowhere', join(folder, 'broken'))
  symlinkSync('..', join(folder, 'sub/round'))
  symlinkSync('self', join(folder, 'self'))
  writeFileSync(join(folder, 'back\\slash'), '')
  const { exitCode, stderr } = await create(folder)
  expect(exitCode).toBe(1)
  expect(stderr).toContain('These cannot be packed: back\\slash, broken, pipe, self, sub/round.')
})

test('a file that is unreadable or was replaced meanwhile is refused by name', async () => {
  const folder = appFolder({ 'gone.txt': '', 'link.txt': '' })
  const { files } = findFiles(folder)
  symlinkSync('index.html', join(folder, 'fresh'))
  renameSync(join(folder, 'fresh'), join(folder, 'link.txt'))
  rmSync(join(folder, 'gone.txt'))
  const options = { limitBytes: 1e9, onProgress: () => undefined, signal: new AbortController().signal }
  for (const name of ['gone.txt', 'link.txt']) {
    const packing = pack(
      files.filter(({ path }) => path === name),
      options,
    )
    expect(await packing.catch((error) => error.message)).toStartWith(`${name} cannot be read.`)
  }
})

const keyName = 'PRIVATE KEY'
const pem = (body: string) => `-----BEGIN ${keyName}-----\n${body}\n-----END ${keyName}-----\n`
const keyBody = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ'

test('all files with secret names are refused at once, by name', async () => {
  const secret = {
    '.env': 'A=1',
    'sub/.env.production': '',
    id_ed25519: '',
    'certs/server.PEM': '',
    'x.key': '',
    '.npmrc': '',
  }
  const folder = appFolder({ ...secret, '.env.example': 'A=', 'monkey.js': '', 'keys.json': '{}' })
  symlinkSync('.env', join(folder, 'settings.txt'))
  const { exitCode, stderr } = await create(folder)
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: [^\n]+\n$/)
  for (const name of [...Object.keys(secret), 'settings.txt']) expect(stderr).toContain(name)
  for (const name of ['.env.example', 'monkey.js', 'keys.json']) expect(stderr).not.toContain(name)
  const others = ['.envrc', '.env~', '.env-live', 'live.env', 'AuthKey.p8', 'id_rsa.bak', '.aws/credentials']
  expect(others.filter((name) => !isSecretName(name))).toEqual([])
  expect(['example.env', 'id_rsa.pub', 'credentials.html'].filter(isSecretName)).toEqual([])
  expect(['.envrc.js', 'environment.ts', 'turkey', 'tokens.css', '.env.sample'].filter(isSecretName)).toEqual([])
})

test('a secret anywhere in a file is found, and text that only resembles one is not', async () => {
  const { clientSecret } = world.app.development
  const padding = 'x'.repeat(64 * 1024 - 30)
  const folder = appFolder({
    'config.js': `const secret = "${clientSecret}"`,
    'late.js': `${padding}"${clientSecret}"`, // spans two pieces
    'hooks.js': `const hooks = "${webhookSecretText({ secret: randomBytes(32) })}"`,
    'hooks.json': JSON.stringify(webhookSecretText({ secret: Buffer.alloc(32, 0xff) })).replaceAll('/', '\\/'),
    'hooks.md': 'It looks like whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw.',
    'key.txt': pem(keyBody),
    'indented.yaml': `key: |\n${pem(keyBody).replaceAll(/^(?=.)/gm, '    ')}`,
    'account.js': JSON.stringify({ key: pem(keyBody) }),
    'legacy.txt': `-----BEGIN RSA ${keyName}-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n${keyBody}\n`,
    'jose.js': `const header = "-----BEGIN ${keyName}-----\\n"; const other = "${clientSecret.slice(0, -1)}"`,
    'fake.js': `"${clientSecret.slice(0, -1)}${clientSecret.endsWith('a') ? 'b' : 'a'}"`,
  })
  const { exitCode, stderr } = await create(folder)
  expect(exitCode).toBe(1)
  expect(stderr).toContain(
    ': account.js, config.js, hooks.js, hooks.json, indented.yaml, key.txt, late.js, legacy.txt. ',
  )
  expect(stderr).not.toContain(clientSecret)
  const scan = createSecretScan()
  for (const unit of `..${clientSecret}..`) scan.see(new TextEncoder().encode(unit))
  expect(scan.found()).toBe(true)
})

test('an archive above the limit is refused before anything is sent, with the largest files named', async () => {
  const folder = appFolder({
    'big.bin': randomBytes(6 * 1024 * 1024),
    'bigger.bin': randomBytes(7 * 1024 * 1024),
    s: '',
  })
  const { exitCode, stderr } = await create(folder)
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(
    /^error: The archive is larger than 10\.0 MiB\. .+ bigger\.bin \(7\.0 MiB\), big\.bin \(6\.0 MiB\), .+\n$/,
  )
  const file = join(temporaryFolder(), 'app.zip')
  writeFileSync(file, randomBytes(10 * 1024 * 1024 + 1))
  expect((await create(file)).stderr).toContain('an artifact has at most 10.0 MiB')
})

const archiveOf = (filler: number) =>
  zipSync({ 'app.json': strToU8('{"name":"x"}'), 'data.bin': new Uint8Array(filler) }, { level: 0 })

test('an artifact of 10 MiB is accepted, as a file and as a folder', async () => {
  const file = join(temporaryFolder(), 'app.zip')
  const around = archiveOf(0).length
  writeFileSync(file, archiveOf(10 * 1024 * 1024 - around))
  const single = await developer.json(['versions', 'create', file, '--version', fresh()])
  expect(single.artifact).toMatchObject({ filename: 'app.zip', sizeBytes: 10 * 1024 * 1024 })
  const folder = appFolder({
    'data.bin': randomBytes(10 * 1024 * 1024 - 20_000),
    'zeros.bin': new Uint8Array(30_000_000),
  })
  expect((await create(folder)).exitCode).toBe(1) // the zeros alone take 36 KB
  renameSync(join(folder, 'zeros.bin'), join(folder, '..', 'zeros.bin'))
  expect((await create(folder)).stdout).toContain('10.0 MiB')
})

test('a ZIP archive is uploaded unchanged, with the app.json in it or the named one; one with a secret is refused', async () => {
  const folder = appFolder({
    'app.zip': zipSync({
      'in/app.json': strToU8('{"name":"Inside","scopes":["store:read"]}'),
      'in/a.js': strToU8('1'),
    }),
    'bare.zip': zipSync({ 'a.js': strToU8('1') }),
    'faulty.zip': zipSync({ 'app.json': strToU8('{"name":7,"scopes":["no"]}') }),
    'a.zip': 'not an archive',
    'app.tar.gz': 'not one either',
    empty: '',
  })
  const upload = ['versions', 'create', join(folder, 'app.zip'), '--version']
  const created = await developer.json([...upload, fresh()])
  expect(created).toMatchObject({
    artifact: { filename: 'app.zip' },
    manifest: { name: 'Inside' },
    scopes: ['store:read'],
  })
  const other = join(folder, 'app.json')
  expect((await developer.json([...upload, fresh(), '--manifest', other])).manifest.name).toBe('Newsletter')
  const bare = join(folder, 'bare.zip')
  expect((await create(bare)).stderr).toContain('has no app.json. Add it, or name the manifest with --manifest.')
  expect((await create(bare, '--manifest', other)).exitCode).toBe(0)
  expect((await create(join(folder, 'faulty.zip'))).stderr.split('\n').slice(0, 2)).toEqual([
    expect.stringContaining('In app.json, line 1, column 9: name must be a text.'),
    expect.stringContaining('In app.json, line 1, column 21: There is no such scope.'),
  ])
  for (const name of ['a.zip', 'app.tar.gz', 'empty', 'index.html']) {
    for (const words of [[], ['--manifest', other], ['--dry-run']]) {
      expect((await create(join(folder, name), ...words)).stderr).toContain('is not a ZIP archive.')
    }
  }
  for (const secret of [world.app.development.clientSecret, privateKey]) {
    const packed = { 'app.json': strToU8('{"name":"A"}'), 'in/config.js': strToU8(`key = '${secret}'`) }
    for (const level of [0, 9] as const) {
      const file = join(temporaryFolder(), 'app.zip')
      writeFileSync(file, zipSync(packed, { level }))
      expect((await create(file)).stderr).toContain('config.js. Take it out, and pack again.')
    }
    const manifest = join(temporaryFolder(), 'm.json')
    writeFileSync(manifest, JSON.stringify({ name: 'A', description: secret }))
    for (const source of [join(folder, 'app.zip'), folder])
      expect((await create(source, '--manifest', manifest)).stderr).toContain(`leave this machine: ${manifest}.`)
  }
  for (const [name, content] of [
    ['.env', 'A=1'],
    ['app.js', world.app.development.clientSecret],
  ] as const) {
    const file = join(temporaryFolder(), name)
    writeFileSync(file, content)
    expect((await create(file)).stderr).toContain('holds a secret')
  }
})

test('an icon that the package lacks or that is none is refused with its place, before anything is sent', async () => {
  for (const icon of ['missing.png', 'index.html', '../icon.png', 'Icon.png']) {
    const folder = appFolder({ 'icon.png': 'no picture', 'app.json': `{ "name": "A",\n  "icon": "${icon}" }` })
    for (const words of [[], ['--dry-run']]) {
      const { exitCode, stderr } = await create(folder, ...words)
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(/app\.json:2:11: [^\n]+\n$/) })
    }
  }
})

test('an ignore file in a folder below is refused by name, because nothing reads it', async () => {
  const folder = appFolder({ 'sub/.appignore': 'private.txt', 'sub/private.txt': '' })
  expect((await create(folder)).stderr).toContain(
    'These are not read: sub/.appignore. Write what is in them in .appignore.',
  )
  writeFileSync(join(folder, '.appignore'), 'sub/.appignore')
  expect(await namesIn(folder)).toEqual(['app.json', 'index.html', 'sub/private.txt'])
})

test('folders that lead to one another without end are refused at once', async () => {
  const folder = appFolder()
  for (let level = 0; level < 8; level += 1) {
    mkdirSync(join(folder, `level${level}`))
    if (level === 0) continue
    for (let link = 0; link < 8; link += 1)
      symlinkSync(`../level${level}`, join(folder, `level${level - 1}`, `to${link}`))
  }
  writeFileSync(join(folder, 'level7', 'a.js'), '')
  expect((await create(folder)).stderr).toContain('There are many more files and folders in')
})

test('a missing, unusable or empty source is refused in one sentence', async () => {
  const folder = appFolder({ '.appignore': '*' })
  expect((await create(join(folder, 'nowhere'))).stderr).toMatch(/^error: There is no file or folder /)
  expect((await create('/dev/null')).stderr).toMatch(/^error: \/dev\/null is neither a file nor a folder\.\n$/)
  expect((await create(folder)).stderr).toMatch(/^error: There is nothing to pack in /)
  const { exitCode, stderr } = await create(join(folder, 'index.html', 'x'))
  expect({ exitCode, lines: stderr.split('\n').length }).toEqual({ exitCode: 1, lines: 2 })
})

test('the folder may be given by any path to it', async () => {
  const folder = appFolder()
  for (const [source, cwd] of [
    ['.', folder],
    [basename(folder), dirname(folder)],
    [`${folder}/`, '/'],
    ['./index.html/..', folder],
  ] as const) {
    const words = ['versions', 'create', source, '--version', fresh(), '--json']
    const { exitCode, stdout } = await developer.run(words, {}, cwd)
    expect({ source, exitCode }).toEqual({ source, exitCode: source.includes('index') ? 1 : 0 })
    if (exitCode === 0) expect(JSON.parse(stdout).artifact.filename).toMatch(/^newsletter-1\.0\.\d+\.zip$/)
  }
})
