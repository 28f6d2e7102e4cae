import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { transferApp } from '../../../src/operations/apps/apps.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { setUserEmail } from '../../../src/operations/users/users.ts'
import { restoreAt } from '../../cli/support/restore-at.ts'
import { openAsOperator, operator, trace } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser } from '../../support/world.ts'
import { backUp } from '../../support/database-file.ts'

/** Opens the database for some work and closes it again. */
const opened = async <T>(file: string, work: (platform: Platform) => Promise<T>): Promise<T> => {
  const platform = await openAsOperator(file)
  try {
    return await work(platform)
  } finally {
    await platform.database.close()
  }
}

const newPlace = () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const backup = (name: string) => join(dirname(file), `${name}.db`)
  return { file, backup }
}

test('an app whose new owner is not in the backup stays with the previous one, suspended, until an operator decides', async () => {
  const { file, backup } = newPlace()
  const { app, owner, kept } = await opened(file, async (platform) => {
    const owner = await addUser(platform)
    const [app, kept] = [await addApp(platform, owner), await addApp(platform, owner)]
    backUp(file, backup('before'))
    const { email } = await addUser(platform, 'New Owner')
    await transferApp(platform, trace, operator, { slug: app.slug, email })
    return { app, owner, kept }
  })

  const { carriedOver } = await restoreAt(file, backup('before'))

  expect(carriedOver).toMatchObject({ owners: 1, apps: 0 })
  await opened(file, async ({ database }) => {
    const { apps } = database.queries
    expect(await apps.byId(app.id)).toMatchObject({ ownerId: owner.id, status: 'suspended' })
    expect(await apps.byId(kept.id)).toMatchObject({ ownerId: owner.id, status: 'active' })
  })
})

test('if another user of the backup has the new address, only that user keeps it, until an operator sets another', async () => {
  const { file, backup } = newPlace()
  const ada = await opened(file, async (platform) => {
    const user = await addUser(platform)
    backUp(file, backup('alone'))
    return user
  })
  const bob = await opened(file, async (platform) => {
    const user = await addUser(platform, 'Bob Example')
    backUp(file, backup('both'))
    return user
  })
  await restoreAt(file, backup('alone'))
  await opened(file, async (platform) => {
    await setUserEmail(platform, trace, operator, { email: ada.email, to: bob.email })
  })

  await restoreAt(file, backup('both'))

  await opened(file, async (platform) => {
    const { users } = platform.database.queries
    expect((await users.byEmail(bob.email))?.id).toBe(bob.id)
    expect(await users.byEmail(ada.email)).toBeNull()
    const unreachable = `${ada.id}@changed.invalid`
    expect((await users.byId(ada.id))?.email).toBe(unreachable)
    await setUserEmail(platform, trace, operator, { email: unreachable, to: 'ada@example.com' })
    expect((await users.byEmail('ada@example.com'))?.id).toBe(ada.id)
  })
})

test('two users who have swapped addresses since the backup have the swapped ones after a restore', async () => {
  const { file, backup } = newPlace()
  const [one, two] = await opened(file, async (platform) => {
    const users = [await addUser(platform), await addUser(platform)] as const
    backUp(file, backup('before'))
    const change = async (email: string, to: string) => await setUserEmail(platform, trace, operator, { email, to })
    await change(users[0].email, 'between@example.com')
    await change(users[1].email, users[0].email)
    await change('between@example.com', users[1].email)
    return users
  })

  await restoreAt(file, backup('before'))

  await opened(file, async ({ database }) => {
    expect((await database.queries.users.byEmail(one.email))?.id).toBe(two.id)
    expect((await database.queries.users.byEmail(two.email))?.id).toBe(one.id)
  })
})
