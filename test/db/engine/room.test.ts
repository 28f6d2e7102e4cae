import { expect, test } from 'bun:test'
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { Room } from '../../../db/sqlite/room.ts'
import { eventually } from '../../support/crash.ts'
import { openTiny, temporaryFolder } from './support/tiny-store.ts'

const reserveBytes = 10_000

test('a link, a pipe or a short file under the name of the reserve is replaced and never followed', async () => {
  using folder = temporaryFolder()
  const reserve = `${folder.file}.reserve`
  const precious = `${folder.file}.precious`
  writeFileSync(precious, 'precious')
  const inTheWay = [
    () => symlinkSync(precious, reserve),
    () => symlinkSync(`${folder.file}.nothing`, reserve),
    () => void Bun.spawnSync(['mkfifo', reserve]),
    () => writeFileSync(reserve, 'short'),
  ]
  for (const put of inTheWay) {
    rmSync(reserve, { force: true })
    put()
    await (await openTiny(folder.file, { reserveBytes })).close()
    expect(lstatSync(reserve)).toMatchObject({ size: reserveBytes })
    expect(lstatSync(reserve).isFile()).toBe(true)
  }
  expect(readFileSync(precious, 'utf8')).toBe('precious')
  expect(lstatSync(`${folder.file}.nothing`, { throwIfNoEntry: false })).toBeUndefined()
})

test('a folder under the name of the reserve does not stop the database', async () => {
  using folder = temporaryFolder()
  mkdirSync(`${folder.file}.reserve`)
  const store = await openTiny(folder.file, { reserveBytes })
  await store.transaction((notes) => notes.add('goes on'))
  expect(store.health()).toEqual({ writable: true, problem: null, reason: null })
  await store.close()
})

test('a reserve that another process used up is made again', async () => {
  using folder = temporaryFolder()
  const reserve = `${folder.file}.reserve`
  const store = await openTiny(folder.file, { reserveBytes })
  rmSync(reserve)
  const kept = await eventually(
    async () => lstatSync(reserve, { throwIfNoEntry: false })?.size,
    (size) => size === reserveBytes,
  )
  expect(kept).toBe(reserveBytes)
  await store.close()
})

test('a process without a reserve uses that of another one only for ending access', () => {
  using folder = temporaryFolder()
  const { file } = folder
  writeFileSync(`${file}.reserve`, 'room')
  const room = new Room({ file, reserveBytes: undefined, isKeeper: false })
  expect(room.ranOut(false)).toBe(false)
  expect(readFileSync(`${file}.reserve`, 'utf8')).toBe('room')
  expect([room.ranOut(true), room.ranOut(true)]).toEqual([true, false])
})
