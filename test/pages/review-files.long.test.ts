import { expect, test } from 'bun:test'
import { strToU8, zipSync, type Zippable } from 'fflate'
import { receivedArtifact } from '../support/received-artifact.ts'
import { moveThrough, submitVersion } from '../support/version.ts'
import { addApp, type AppInWorld } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile()
const desk = await signedInBrowser(world.server.url, world.operator)

/** A new version with this file, which waits for review. */
const submit = async (app: AppInWorld, version: string, bytes: Uint8Array): Promise<string> => {
  const artifact = { filename: 'app.zip', content: receivedArtifact(bytes), sha256: null }
  await submitVersion(world.platform, app, { version, artifact })
  return `/desk/reviews/${app.slug}/${version}/files`
}
const submitNew = async (files: Zippable | Uint8Array): Promise<string> =>
  await submit(
    await addApp(world.platform, world.user),
    '1.0.0',
    files instanceof Uint8Array ? files : zipSync(files, { mtime: new Date(2026, 1, 1) }),
  )
const stored = (text: string) => zipSync({ 'a.js': [strToU8(text), { level: 0 }] }, { mtime: new Date(2026, 1, 1) })
/** Each row of the list as one line. */
const rowsAt = async (path: string): Promise<readonly string[]> => {
  const { status, text } = await desk.get(path)
  expect(status).toBe(200)
  return [...text.matchAll(/<tr><th scope="row".*?<\/tr>/gs)].map(([row]) =>
    row
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )
}
const textAt = async (files: string, path: string) =>
  await desk.get(`${files}/text?${new URLSearchParams({ path }).toString()}`)
/** What is in the region with the text. */
const shownIn = (text: string): string => /<pre[^>]*><code>(.*?)<\/code><\/pre>/s.exec(text)?.[1] ?? ''

test('the files of an archive are listed with sizes, and with what became of each since the live version', async () => {
  const app = await addApp(world.platform, world.user)
  const mtime = new Date(2026, 1, 1)
  const before = { 'app/same.js': strToU8('1'), 'app/changed.js': strToU8('1'), 'app/removed.js': strToU8('12') }
  const first = await submit(app, '1.0.0', zipSync(before, { mtime }))
  expect((await desk.get(first)).text).toContain('There is no live version to compare them with.')
  expect(await rowsAt(first)).toEqual(['changed.js Added 1 byte', 'removed.js Added 2 bytes', 'same.js Added 1 byte'])
  await moveThrough(world.platform, app, '1.0.0', 'approve', 'activate')
  // In another outermost folder, as the archives of GitHub are.
  const after = { 'app-2/same.js': strToU8('1'), 'app-2/changed.js': strToU8('23'), 'app-2/added.js': strToU8('x') }
  const files = await submit(app, '2.0.0', zipSync(after, { mtime }))
  expect(await rowsAt(files)).toEqual([
    'added.js Added 1 byte',
    'changed.js Changed 1 byte → 2 bytes',
    'removed.js Removed 2 bytes',
    'same.js Unchanged 1 byte',
  ])
  expect(await rowsAt(`${files}?change=changed`)).toEqual(['changed.js Changed 1 byte → 2 bytes'])
  expect(await rowsAt(`${files}?q=ADD`)).toEqual(['added.js Added 1 byte'])
  expect((await desk.get(`/desk/reviews/${app.slug}/2.0.0`)).text).toContain(`href="${files}"`)
  const [, removed = ''] = /href="([^"]+)">removed\.js/.exec((await desk.get(files)).text) ?? []
  expect(shownIn((await desk.get(removed)).text)).toBe('12')
})

test('a file with another content is changed, even if its size and its checksum are those of before', async () => {
  const app = await addApp(world.platform, world.user)
  const before = stored('good')
  await submit(app, '1.0.0', before)
  await moveThrough(world.platform, app, '1.0.0', 'approve', 'activate')
  const forged = before.slice()
  forged.set(strToU8('evil'), Buffer.from(before).indexOf('good'))
  expect(await rowsAt(await submit(app, '2.0.0', forged))).toEqual(['a.js Changed 4 bytes'])
})

test('text is shown as text, with what is invisible or turns the direction as escapes', async () => {
  const files = await submitNew({
    'page.html': strToU8('<script>alert(1)</script>\r\n\tif (a\u202e) {}\r\u200b</code></pre>\ufeff'),
    'na\u202eme.js': strToU8('1'),
  })
  const { text, headers } = await textAt(files, 'page.html')
  expect(shownIn(text)).toBe(
    '&lt;script>alert(1)&lt;/script>\n\tif (a\\u202e) {}\\u000d\\u200b&lt;/code>&lt;/pre>\\ufeff',
  )
  expect(headers.get('content-security-policy')).not.toContain('unsafe')
  const { text: listed } = await desk.get(files)
  expect(listed).toContain('na\\u202eme.js')
  expect(listed).not.toContain('\u202e')
  expect(shownIn((await textAt(files, 'na\u202eme.js')).text)).toBe('1')
})

test('of a long text the beginning is shown, and what is no text is not shown', async () => {
  const line = `${'ä'.repeat(49)}\n`
  const files = await submitNew({
    'long.txt': [strToU8(line.repeat(100_000)), { level: 9 }],
    'stored.txt': [strToU8('x'.repeat(70_000)), { level: 0 }],
    'exact.txt': strToU8('x'.repeat(64 * 1024)),
    'latin.txt': Uint8Array.of(0x61, 0xe4, 0x61),
    'binary.dat': Uint8Array.of(0x61, 0x00, 0x61),
    'empty.txt': new Uint8Array(),
  })
  const long = await textAt(files, 'long.txt')
  expect(long.text).toContain('Only the first 64 KiB are shown.')
  expect(Buffer.byteLength(shownIn(long.text))).toBeWithin(64 * 1024 - 1, 64 * 1024 + 1)
  expect(shownIn((await textAt(files, 'stored.txt')).text)).toBe('x'.repeat(64 * 1024))
  const exact = await textAt(files, 'exact.txt')
  expect(exact.text).not.toContain('Only the first')
  expect(shownIn(exact.text)).toHaveLength(64 * 1024)
  for (const name of ['latin.txt', 'binary.dat']) {
    expect((await textAt(files, name)).text).toContain('not text in UTF-8')
  }
  expect((await textAt(files, 'empty.txt')).status).toBe(200)
})

test('no more of a file is unpacked than is shown, whatever size the archive claims', async () => {
  const packed = Bun.deflateSync(new Uint8Array(400 * 1024 * 1024).fill(0x20), { level: 9 })
  const archive = zipSync({ 'bomb.txt': [packed, { level: 0 }] })
  const view = new DataView(archive.buffer)
  const entry = view.getUint32(archive.length - 22 + 16, true)
  for (const method of [8, entry + 10]) view.setUint16(method, 8, true) // deflated
  view.setUint32(entry + 24, 1_000, true)
  const before = process.memoryUsage.rss()
  const { text } = await textAt(await submitNew(archive), 'bomb.txt')
  expect(text).toContain('Only the first 64 KiB are shown.')
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024)
})

test('a damaged, encrypted or unusual file, and what is no archive, is said to be so', async () => {
  const plain = zipSync({ 'a.txt': [strToU8('hello hello hello hello'), { level: 9 }] })
  const changedAt = (distance: number, value: number) => {
    const copy = plain.slice()
    const view = new DataView(copy.buffer)
    view.setUint16(view.getUint32(copy.length - 22 + 16, true) + distance, value, true)
    return copy
  }
  for (const [archive, sentence] of [
    [changedAt(8, 1), 'encrypted or packed in an unusual way'],
    [changedAt(10, 12), 'encrypted or packed in an unusual way'],
    [plain.map((byte, at) => (at === 35 ? 0xff : byte)), 'damaged in the archive'],
  ] as const) {
    expect((await textAt(await submitNew(archive), 'a.txt')).text).toContain(sentence)
  }
  expect((await desk.get(await submitNew(strToU8('#!/bin/sh')))).text).toContain('The file is no ZIP archive')
  const polyglot = Buffer.concat([strToU8('<html>'), plain])
  const directory = polyglot.readUInt32LE(polyglot.length - 6)
  polyglot.writeUInt32LE(directory + 6, polyglot.length - 6)
  polyglot.writeUInt32LE(6, directory + 6 + 42)
  const files = await submitNew(polyglot)
  expect((await desk.get(files)).text).toContain('does not begin as a ZIP archive does')
  expect(shownIn((await textAt(files, 'a.txt')).text)).toBe('hello hello hello hello')
})

test('only files of the archive can be read, and only by operators', async () => {
  const files = await submitNew({ 'a.txt': strToU8('1') })
  for (const path of ['', 'b.txt', '../a.txt', '/etc/passwd', 'a.txt/', 'A.TXT']) {
    expect([path, (await textAt(files, path)).status]).toEqual([path, 404])
  }
  expect((await desk.get(`${files}/text?path=a.txt&path=b.txt`)).status).toBe(400)
  const developer = await signedInBrowser(world.server.url, world.user)
  for (const path of [files, `${files}/text?path=a.txt`]) expect((await developer.get(path)).status).toBe(404)
})

test('a version without a file says so', async () => {
  const app = await addApp(world.platform, world.user)
  await submitVersion(world.platform, app, { version: '1.0.0' })
  expect((await desk.get(`/desk/reviews/${app.slug}/1.0.0/files`)).text).toContain('No file was uploaded')
})

test('a long list is paged, and no file is missing', async () => {
  const names = Array.from({ length: 120 }, (_, index) => `f${String(index).padStart(3, '0')}.js`)
  let path = await submitNew(Object.fromEntries(names.map((name) => [name, strToU8('1')])))
  const seen: string[] = []
  for (let part = 0; part < 5 && path !== ''; part += 1) {
    seen.push(...(await rowsAt(path)).map((row) => row.split(' ')[0] ?? ''))
    path = /href="([^"]+)" rel="next"/.exec((await desk.get(path)).text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  }
  expect(seen).toEqual(names)
})
