import { expect, test } from 'bun:test'
import { strToU8, zipSync, type Zippable } from 'fflate'
import { listArchive, openArchive, readArchivedFile } from '../../src/domain/archive.ts'
import { atOnce } from '../../src/domain/awaitable.ts'
import { comparedFiles } from '../../src/domain/archive-difference.ts'

const limit = 1024
const manifest = strToU8('{"name":"Newsletter"}')
const read = (archive: Uint8Array) => readArchivedFile(atOnce(openArchive(archive)), 'app.json', limit)
const textIn = (files: Zippable): string | null => {
  const found = read(zipSync(files))
  return found.kind === 'file' ? new TextDecoder().decode(found.bytes) : null
}

/** The archive with the bytes at this distance from the first entry of its directory replaced. */
const altered = (archive: Uint8Array, distance: number, value: number): Uint8Array => {
  const copy = archive.slice()
  const view = new DataView(copy.buffer)
  const directory = view.getUint32(copy.length - 22 + 16, true)
  view.setUint32(directory + distance, value, true)
  return copy
}
const [flags, crc, packedSize, unpackedSize] = [8, 16, 20, 24] as const

test('app.json is found at the top of the archive, packed or stored, and in its only folder', () => {
  expect(textIn({ 'app.json': manifest, 'index.js': strToU8('1') })).toBe('{"name":"Newsletter"}')
  expect(textIn({ 'app.json': [manifest, { level: 0 }] })).toBe('{"name":"Newsletter"}')
  expect(textIn({ 'app-main/app.json': manifest, '__MACOSX/app-main/._app.json': strToU8('x') })).not.toBeNull()
  expect(textIn({ 'one/app.json': manifest, 'two/index.js': strToU8('1') })).toBeNull()
  expect(textIn({ 'deep/er/app.json': manifest })).toBeNull()
  expect(read(zipSync({ 'a.txt': manifest }))).toEqual({ kind: 'missing' })
})

test('a file that is no archive is told from one that is cut off', () => {
  const archive = zipSync({ 'app.json': manifest })
  expect(read(strToU8('#!/bin/sh'))).toEqual({ kind: 'no archive' })
  expect(read(new Uint8Array())).toEqual({ kind: 'no archive' })
  for (const length of [10, archive.length - 30, archive.length - 1]) {
    expect(read(archive.subarray(0, length)).kind).toBe('refused')
  }
})

test('no size that an archive claims is believed', () => {
  const bomb = zipSync({ 'app.json': new Uint8Array(4 * 1024 * 1024) })
  expect(read(bomb)).toMatchObject({ sentence: 'The file app.json is larger than 1 KiB.' })
  expect(read(altered(bomb, unpackedSize, 900))).toMatchObject({ kind: 'refused' }) // it would unpack to more than it says
  const archive = zipSync({ 'app.json': manifest })
  for (const size of [1, 0x7fffffff]) expect(read(altered(archive, packedSize, size)).kind).toBe('refused')
  expect(read(altered(archive, crc, 1))).toMatchObject({
    sentence: 'The file app.json is damaged in the archive. Pack it again.',
  })
  expect(read(altered(archive, flags, 1))).toMatchObject({ sentence: expect.stringContaining('encrypted') })
})

test('an archive that unpacks to more than 512 MiB is refused before anything is unpacked', () => {
  const archive = zipSync({ 'big.bin': manifest, 'app.json': manifest })
  expect(read(altered(archive, unpackedSize, 513 * 1024 * 1024))).toMatchObject({
    sentence: 'The archive unpacks to more than 512 MiB.',
  })
})

const files = (count: number, path: string) =>
  zipSync(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${path}${index}`, new Uint8Array()])))

test('an archive with more files, or longer names, than can be read at once is refused', () => {
  expect(read(files(10_000, 'f'))).toEqual({ kind: 'missing' })
  const tooMany = { sentence: expect.stringContaining('The archive has too many files') }
  expect(read(files(10_001, 'f'))).toMatchObject(tooMany)
  expect(read(files(5_000, 'folder/'.repeat(60)))).toMatchObject(tooMany)
})

test('every cut and every changed byte of an archive gives an answer and no error', () => {
  const archive = zipSync({ 'app.json': manifest, 'index.js': strToU8('1') })
  for (let at = 0; at < archive.length; at += 1) {
    read(archive.subarray(0, at))
    for (const value of [0, 0xff]) read(archive.map((byte, index) => (index === at ? value : byte)))
  }
})

test('paths that leave the folder, work on some systems only, or are one path on some, are refused by name', () => {
  for (const path of [
    '../x',
    'a/../../x',
    '/etc/x',
    'C:/x',
    'c:x',
    '..\\x',
    'a\\..\\..\\x',
    '\\\\server\\share\\x',
    '//server/x',
    'CON',
    'a/NUL.txt',
    'com1',
    'lpt9.tar.gz',
    'a:b.js',
    'a?.js',
    'dot.',
    'space /x',
    'a\u0007b',
    './x',
    'a//x',
  ]) {
    const refused = read(zipSync({ 'app.json': manifest, [path]: manifest }))
    expect({ path, kind: refused.kind }).toEqual({ path, kind: 'refused' })
  }
  for (const pair of [
    ['A/x', 'a/x'],
    ['a', 'A/x'],
    ['caf\u00e9', 'cafe\u0301'],
    ['b', 'b\\x'],
  ] as const) {
    const refused = read(zipSync({ 'app.json': manifest, [pair[0]]: manifest, [pair[1]]: manifest }))
    expect({ pair, kind: refused.kind }).toEqual({ pair, kind: 'refused' })
  }
  expect(textIn({ 'app\\app.json': manifest, 'app\\lib\\index.js': manifest })).not.toBeNull()
  const folder = new Uint8Array()
  expect(
    textIn({ 'app/': folder, 'app/app.json': manifest, 'app/lib/': folder, 'app/lib/a.js': manifest }),
  ).not.toBeNull()
  expect(read(zipSync({ 'app.json': [manifest, { os: 3, attrs: (0o120777 << 16) >>> 0 }] })).kind).toBe('refused')
})

const partsOf = <T>(work: Generator<undefined, T>): { readonly parts: number; readonly value: T } => {
  for (let parts = 1; ; parts += 1) {
    const step = work.next()
    if (step.done === true) return { parts, value: step.value }
  }
}

test('a long list is read and compared in parts, so that other requests have turns in between', () => {
  const archive = zipSync(
    Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`${index}.js`, new Uint8Array()])),
  )
  const listed = partsOf(listArchive(archive))
  if (listed.value.kind !== 'files') throw new Error('It is an archive.')
  const { files } = listed.value
  const compared = partsOf(comparedFiles(files.slice(0, 1_000), files))
  expect([files.length, compared.value.filter(({ change }) => change === 'added').length]).toEqual([3_000, 2_000])
  expect(listed.parts).toBeGreaterThan(10)
  expect(partsOf(openArchive(archive)).parts).toBeGreaterThan(10)
  expect(compared.parts).toBeGreaterThan(5)
})
