import { beforeAll, expect, test } from 'bun:test'
import { deleteApp } from '../../src/operations/apps/apps.ts'
import { countApps, searchApps } from '../../src/operations/apps/lists.ts'
import { createInstall, moveInstall } from '../../src/operations/installs/installs.ts'
import { countInstalls, searchInstalls } from '../../src/operations/installs/lists.ts'
import type { ListPage, PageRequest } from '../../src/operations/page.ts'
import { createUser } from '../../src/operations/users/users.ts'
import { countUsers, searchUsers } from '../../src/operations/users/find-user.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'

const platform = await platformOfFile()
let people: readonly Login[]
let apps: readonly AppInWorld[]
beforeAll(async () => {
  people = [
    await addUser(platform, 'Ünal 100%'),
    await addUser(platform, 'Grace_Hopper'),
    await addUser(platform, 'Zoë'),
  ]
  const [owner] = people
  if (owner === undefined) throw new Error('nobody is there')
  apps = [await addApp(platform, owner), await addApp(platform, owner)]
})

/** Every row of a list, page by page. From the last page, the way back leads over the same rows to the first page. */
const everyPage = async <T>(list: (page: PageRequest) => Promise<ListPage<T>>, limit: number): Promise<T[]> => {
  const first = await list({ limit, cursor: null })
  const rows = [...first.data]
  let page = first
  while (page.nextCursor !== null) {
    page = await list({ limit, cursor: page.nextCursor })
    expect(page.data.length).toBeLessThanOrEqual(limit)
    rows.push(...page.data)
  }
  const pages: (readonly T[])[] = []
  while (page.previousCursor !== null) {
    pages.unshift(page.data)
    page = await list({ limit, cursor: page.previousCursor, direction: 'back' })
  }
  const back = pages.flat()
  expect([page, back]).toEqual([first, rows.slice(rows.length - back.length)])
  expect(back.length + page.data.length).toBeGreaterThanOrEqual(rows.length)
  return rows
}
const everybody = { part: '', status: null, operators: false } as const
const named = async (part: string, page: PageRequest) =>
  await searchUsers(platform, { ...everybody, part }, 'email', page)
const namesFound = async (part: string) =>
  (await everyPage(async (page) => await named(part, page), 2)).map(({ name }) => name)
const anyApp = { part: '', status: null } as const

test('users are found by a part of their name or address, ignoring case; wildcards have no special meaning', async () => {
  expect(await namesFound('')).toHaveLength(3)
  expect(await namesFound('USER-')).toHaveLength(3)
  expect(await namesFound('gRACE')).toEqual(['Grace_Hopper'])
  expect(await namesFound('Ünal')).toEqual(['Ünal 100%'])
  expect(await namesFound('%')).toEqual(['Ünal 100%'])
  expect(await namesFound('_')).toEqual(['Grace_Hopper'])
  for (const nobody of ['\\', "' OR 1=1 --", '\0', 'x'.repeat(100_000), '\ud800']) {
    expect(await namesFound(nobody)).toEqual([])
  }
})

test('a page with all users has no next page', async () => {
  expect((await named('', { limit: people.length, cursor: null })).nextCursor).toBeNull()
})

test('a list of users contains no password hash', async () => {
  const { data } = await named('', { limit: 50, cursor: null })
  expect(JSON.stringify(data)).not.toContain('$2')
  expect(Object.keys(data[0] ?? {}).toSorted()).toEqual([
    'createdAt',
    'email',
    'externalId',
    'hasPassword',
    'id',
    'isOperator',
    'name',
    'status',
    'suspendedAt',
  ])
})

test('a search reads ten thousand rows per page, and the next page continues there', async () => {
  const hidden = await openAsOperator(`${temporaryFolder()}/many.db`)
  const owner = await createUser(hidden, trace, operator, {
    email: 'a@example.com',
    name: 'First',
    password: 'correct horse battery',
    isOperator: false,
  })
  await hidden.database.transaction(async (q) => {
    for (let index = 0; index < 10_500; index += 1) {
      const name = index === 10_400 ? 'Needle' : 'Hay'
      await q.users.insert({
        ...owner,
        id: `${owner.id}${index}`,
        name,
        email: `b${String(index).padStart(6, '0')}@example.com`,
      })
    }
  })
  const first = await searchUsers(hidden, { ...everybody, part: 'needle' }, 'email', { limit: 50, cursor: null })
  expect(first).toEqual({ data: [], nextCursor: 'b009998@example.com', previousCursor: null })
  const second = await searchUsers(hidden, { ...everybody, part: 'needle' }, 'email', {
    limit: 50,
    cursor: first.nextCursor,
  })
  expect(second.data.map(({ name }) => name)).toEqual(['Needle'])
  expect(second.nextCursor).toBeNull()
  expect(await everyPage(async (page) => await searchUsers(hidden, everybody, 'email', page), 3_000)).toHaveLength(
    10_501,
  )
  await hidden.database.close()
})

test('users and apps are counted, and listed by status or the newest first', async () => {
  expect(await countUsers(platform, { ...everybody, part: 'o' })).toEqual({ count: 3, exact: true })
  expect(await countUsers(platform, { ...everybody, operators: true })).toEqual({ count: 0, exact: true })
  expect(await countApps(platform, { ...anyApp, status: 'suspended' })).toEqual({ count: 0, exact: true })
  expect(await countApps(platform, { ...anyApp, status: 'active' })).toEqual({ count: apps.length, exact: true })
  const newest = await everyPage(async (page) => await searchUsers(platform, everybody, 'newest', page), 1)
  expect(newest.map(({ id }) => id)).toEqual(people.map(({ id }) => id).toReversed())
  const made = await everyPage(async (page) => await searchApps(platform, anyApp, 'newest', page), 1)
  expect(made.map(({ slug }) => slug)).toEqual(apps.map(({ slug }) => slug).toReversed())
})

test('apps are found by a part of their name or slug, with their owners', async () => {
  const found = await everyPage(
    async (page) => await searchApps(platform, { ...anyApp, part: 'NEWS' }, 'slug', page),
    1,
  )
  expect(found.map(({ slug, ownerEmail }) => [slug, ownerEmail])).toEqual(
    apps.map(({ slug }) => [slug, people[0]?.email ?? '']),
  )
  const [, second] = apps
  const bySlug = await searchApps(platform, { ...anyApp, part: second?.slug ?? '' }, 'slug', {
    limit: 50,
    cursor: null,
  })
  expect(bySlug.data.map(({ slug }) => slug)).toEqual([second?.slug ?? ''])
  expect(
    (await searchApps(platform, { ...anyApp, part: 'nothing' }, 'slug', { limit: 50, cursor: null })).data,
  ).toEqual([])
})

const everyInstall = { app: '', user: '', status: null, kind: null, part: '' } as const

test('installs are found by app, user, state and text, and counted by state', async () => {
  const installs: string[] = []
  for (const { slug } of apps) {
    for (const { email } of people) {
      const input = { slug, userEmail: email, kind: 'site', resourceSlug: 'my-site' } as const
      installs.push((await createInstall(platform, trace, operator, input)).id)
    }
  }
  const [a = '', b = '', c = '', d = '', e = '', f = ''] = installs
  await moveInstall(platform, trace, operator, { id: b, step: 'approve' })
  await moveInstall(platform, trace, operator, { id: e, step: 'reject' })
  await moveInstall(platform, trace, operator, { id: c, step: 'approve' })
  await moveInstall(platform, trace, operator, { id: c, step: 'deactivate' })
  const search = async (asked: object, order: 'newest' | 'oldest' = 'newest', limit = 1) =>
    await everyPage(async (page) => await searchInstalls(platform, { ...everyInstall, ...asked }, order, page), limit)
  const found = async (asked: object) => (await search(asked)).map(({ id }) => id)
  const pending = await search({ status: 'waiting' }, 'oldest', 2)
  expect(pending.map(({ id }) => id)).toEqual([a, d, f])
  expect(pending[0]).toMatchObject({ app: apps[0]?.slug ?? '', appName: 'Newsletter', user: people[0]?.email ?? '' })
  expect(await found({})).toEqual([f, e, d, c, b, a])
  expect(await found({ app: apps[0]?.slug ?? '' })).toEqual([c, b, a])
  expect(await found({ user: people[1]?.email ?? '' })).toEqual([e, b])
  expect(await found({ status: 'active' })).toEqual([b])
  expect(await found({ status: 'deactivated' })).toEqual([c])
  expect(await found({ status: 'rejected', part: apps[1]?.slug ?? '' })).toEqual([e])
  expect(await found({ kind: 'store' })).toEqual([])
  expect(await found({ part: 'MY-SITE', user: people[2]?.email ?? '' })).toEqual([f, c])
  const { states, exact } = await countInstalls(platform, { ...everyInstall, app: apps[0]?.slug ?? '' })
  expect([states.map(({ count }) => count), exact]).toEqual([[1, 1, 1], true])
  await expect(found({ app: 'nowhere' })).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(found({ user: 'nobody@example.com' })).rejects.toMatchObject({ code: 'invalid_request' })
})

test('what waits of a deleted app is in no list of installs and in no count', async () => {
  const [, { slug } = { slug: '' }] = apps
  const waiting = async () => {
    const { data } = await searchInstalls(platform, everyInstall, 'newest', { limit: 50, cursor: null })
    const { states } = await countInstalls(platform, everyInstall)
    return [
      data.filter(({ app, approval }) => app === slug && approval === 'pending').length,
      states.find(({ approval }) => approval === 'pending')?.count ?? 0,
    ]
  }
  expect(await waiting()).toEqual([2, 3])
  await deleteApp(platform, trace, operator, slug)
  expect(await waiting()).toEqual([0, 1])
})
