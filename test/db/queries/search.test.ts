import { beforeAll, expect, test } from 'bun:test'
import { newUser } from '../../../src/operations/users/users.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { addApp, addUser } from '../../support/world.ts'

const platform = await platformOfFile()
let emails: string[]
let slugs: string[]
beforeAll(async () => {
  const users = [await addUser(platform), await addUser(platform), await addUser(platform), await addUser(platform)]
  emails = users.map(({ email }) => email).toSorted()
  const apps = await Promise.all(users.map(async (user) => await addApp(platform, user)))
  slugs = apps.map(({ slug }) => slug).toSorted()
})

const q = platform.database.queries
type Window = { readonly after: string; readonly rows: number; readonly limit: number }
const searchUsers = async (part: string, window: Window) =>
  await q.users.search({ part, status: null, operators: false }, 'email', window)
const searchApps = async (part: string, window: Window) => await q.apps.search({ part, status: null }, 'slug', window)

/** Searches two rows at a time to the end. Returns what was found and where each search stopped. */
const walk = async <T>(
  look: (part: string, window: Window) => Promise<{ readonly found: readonly T[]; readonly searchedTo: string | null }>,
  part: string,
) => {
  const [found, ends]: [T[], string[]] = [[], []]
  for (let after: string | null = ''; after !== null;) {
    const seen: Awaited<ReturnType<typeof look>> = await look(part, { after, rows: 2, limit: 10 })
    found.push(...seen.found)
    if (seen.searchedTo !== null) ends.push(seen.searchedTo)
    after = seen.searchedTo
  }
  return { found, ends }
}

test('a search reads every user and every app once, a limited number of rows at a time, and says where it stopped', async () => {
  const users = await walk(searchUsers, '')
  expect(users.found.map(({ email }) => email)).toEqual(emails)
  expect(users.ends).toEqual([emails[1] ?? '', emails[3] ?? ''])
  const apps = await walk(searchApps, '')
  expect(apps.found.map(({ slug }) => slug)).toEqual(slugs)
  expect(apps.ends).toEqual([slugs[1] ?? '', slugs[3] ?? ''])
})

test('a search finds every name with the part, wherever it is in the name, and stops where it would have stopped anyway', async () => {
  const users = await walk(searchUsers, emails[2] ?? '')
  expect([users.found.map(({ email }) => email), users.ends]).toEqual([
    [emails[2] ?? ''],
    [emails[1] ?? '', emails[3] ?? ''],
  ])
  const apps = await walk(searchApps, slugs[2] ?? '')
  expect([apps.found.map(({ slug }) => slug), apps.ends]).toEqual([[slugs[2] ?? ''], [slugs[1] ?? '', slugs[3] ?? '']])
  expect((await walk(searchApps, 'Newsletter')).found).toHaveLength(4)
})

const foundBy = async (part: string) => (await searchUsers(part, { after: '', rows: 100, limit: 10 })).found.length

test('a search finds letters of every script in either case, and no character of it has a meaning of its own', async () => {
  const user = await addUser(platform)
  const call = async (name: string) => {
    const row = await q.users.byId(user.id)
    if (row !== null) await platform.database.transaction(async (t) => await t.users.change(row.id, { name }, 1))
  }
  for (const [name, ...parts] of [
    ['Рассылка Москва', 'москва', 'МОСКВА', 'рАссылкА мОс'],
    ['Ελληνικός Νέος', 'ΕΛΛΗΝΙΚΌΣ', 'νέοσ', 'ΝΈΟΣ'],
    ['Élan d’Été', 'élan', 'ÉTÉ'],
    ['Straße', 'STRAßE', 'straẞe'],
    ['Հայաստան', 'ՀԱՅԱՍՏԱՆ'],
    ['𐐀𐐁', '𐐨𐐩'],
    ['日本語 ゆき', '日本', 'ゆき'],
    ['محمد رضا', 'رضا'],
    ['İpek ılık', 'İpek', 'ılık'],
  ] as const) {
    await call(name)
    for (const part of [name, ...parts]) expect([part, await foundBy(part)]).toEqual([part, 1])
    expect([name, await foundBy(`${name}x`)]).toEqual([name, 0])
  }
})

test('a search finds a sign in the names that have it, and in no other', async () => {
  const signs = Array.from('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~')
  const names = ['qzq', ...signs.flatMap((sign) => [`q${sign}q`, `q${sign}${sign}q`, `q\\${sign}^q`])]
  await platform.database.transaction(async (t) => {
    for (const [index, name] of names.entries()) {
      const facts = {
        externalId: null,
        email: `sign-${index}@example.com`,
        pictureUrl: null,
        status: 'active',
      } as const
      await t.users.insert(newUser({ id: `usr_sign${index}`, name, ...facts }, 1))
    }
  })
  for (const sign of signs) {
    for (const part of [`q${sign}`, `${sign}Q`, `Q${sign}q`, `q${sign}${sign}`, `\\${sign}^`, `${sign}^q`]) {
      const { found } = await searchUsers(part, { after: '', rows: 1_000, limit: 1_000 })
      const expected = names.filter((name) => name.includes(part.toLowerCase()))
      expect([part, found.map(({ name }) => name).toSorted()]).toEqual([part, expected.toSorted()])
    }
  }
})
