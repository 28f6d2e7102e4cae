import { beforeAll, expect, test } from 'bun:test'
import { searchApps } from '../../src/operations/apps/lists.ts'
import { createInstall } from '../../src/operations/installs/create-install.ts'
import { listDecidedInstalls, listPendingInstalls } from '../../src/operations/installs/lists.ts'
import { moveInstall } from '../../src/operations/installs/move-install.ts'
import type { Page, PageRequest } from '../../src/operations/page.ts'
import { createUser } from '../../src/operations/users/create-user.ts'
import { searchUsers } from '../../src/operations/users/find-user.ts'
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

/** Every row of a list, page by page. */
const everyPage = async <T>(list: (page: PageRequest) => Promise<Page<T>>, limit: number): Promise<T[]> => {
  const rows: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await list({ limit, cursor })
    expect(page.data.length).toBeLessThanOrEqual(limit)
    rows.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}
const namesFound = async (part: string) =>
  (await everyPage(async (page) => await searchUsers(platform, part, page), 2)).map(({ name }) => name)

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
  expect((await searchUsers(platform, '', { limit: people.length, cursor: null })).nextCursor).toBeNull()
})

test('a list of users contains no password hash', async () => {
  const { data } = await searchUsers(platform, '', { limit: 50, cursor: null })
  expect(JSON.stringify(data)).not.toContain('$2')
  expect(Object.keys(data[0] ?? {}).toSorted()).toEqual([
    'createdAt',
    'email',
    'id',
    'isOperator',
    'name',
    'passwordSuspendedAt',
    'status',
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
  const first = await searchUsers(hidden, 'needle', { limit: 50, cursor: null })
  expect(first).toEqual({ data: [], nextCursor: 'b009998@example.com' })
  const second = await searchUsers(hidden, 'needle', { limit: 50, cursor: first.nextCursor })
  expect(second.data.map(({ name }) => name)).toEqual(['Needle'])
  expect(second.nextCursor).toBeNull()
  expect(await everyPage(async (page) => await searchUsers(hidden, '', page), 3_000)).toHaveLength(10_501)
  await hidden.database.close()
})

test('apps are found by a part of their name or slug, with their owners', async () => {
  const found = await everyPage(async (page) => await searchApps(platform, 'NEWS', page), 1)
  expect(found.map(({ slug, ownerEmail }) => [slug, ownerEmail])).toEqual(
    apps.map(({ slug }) => [slug, people[0]?.email ?? '']),
  )
  const [, second] = apps
  const bySlug = await searchApps(platform, second?.slug ?? '', { limit: 50, cursor: null })
  expect(bySlug.data.map(({ slug }) => slug)).toEqual([second?.slug ?? ''])
  expect((await searchApps(platform, 'nothing', { limit: 50, cursor: null })).data).toEqual([])
})

test('pending installs are listed oldest first, decided ones newest first, of one app or all', async () => {
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
  const pending = await everyPage(async (page) => await listPendingInstalls(platform, page), 2)
  expect(pending.map(({ id }) => id)).toEqual([a, d, f])
  expect(pending[0]).toMatchObject({ app: apps[0]?.slug ?? '', appName: 'Newsletter', user: people[0]?.email ?? '' })
  const decided = async (slug: string | null) =>
    (await everyPage(async (page) => await listDecidedInstalls(platform, slug, page), 1)).map(({ id }) => id)
  expect(await decided(null)).toEqual([e, c, b])
  expect(await decided(apps[0]?.slug ?? '')).toEqual([c, b])
  await expect(listDecidedInstalls(platform, 'nowhere', { limit: 1, cursor: null })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})
