import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { changeAppScopes } from '../../../src/operations/apps/apps.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { addScope, giveScope, retireScope, takeScope } from '../../../src/operations/scopes/scopes.ts'
import { restoreAt } from '../../cli/support/restore-at.ts'
import { backUp } from '../../support/database-file.ts'
import { openAsOperator, operator, trace } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser } from '../../support/world.ts'

const opened = async <T>(file: string, work: (platform: Platform) => Promise<T>): Promise<T> => {
  const platform = await openAsOperator(file)
  try {
    return await work(platform)
  } finally {
    await platform.database.close()
  }
}
const scope = (name: string) => ({ name, usableBy: 'both', text: 'List your orders', isRestricted: null }) as const

test('a restore revives no scope that was retired or taken back, and does not let a retired name be used again', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const [empty, full] = ['empty', 'full'].map((name) => join(dirname(file), `${name}.db`))
  const app = await opened(file, async (platform) => {
    const created = await addApp(platform, await addUser(platform))
    const { slug } = created
    backUp(file, empty ?? '')
    for (const name of ['orders:read', 'stock:read', 'mail:send']) {
      await addScope(platform, trace, operator, scope(name))
      await giveScope(platform, trace, operator, { name, slug })
    }
    await changeAppScopes(platform, trace, operator, { slug, scopes: 'site:read orders:read stock:read mail:send' })
    backUp(file, full ?? '')
    await retireScope(platform, trace, operator, 'orders:read')
    await takeScope(platform, trace, operator, { name: 'stock:read', slug })
    return created
  })
  const check = async () =>
    await opened(file, async (platform) => {
      const { apps, scopes } = platform.database.queries
      const add = addScope(platform, trace, operator, scope('orders:read'))
      expect(await add.catch(({ facts }) => facts.param)).toBe('name')
      expect((await scopes.find('orders:read'))?.retiredAt).toBeNumber()
      return await apps.byId(app.id)
    })

  const { carriedOver } = await restoreAt(file, full ?? '')
  expect(carriedOver?.scopes).toBeGreaterThan(0)
  expect(await check()).toMatchObject({
    scopes: 'mail:send site:read',
    tokenScopes: 'mail:send site:read',
    givenScopes: 'mail:send',
  })

  await restoreAt(file, empty ?? '') // it knows of no scope, and learns of the retired one
  expect(await check()).toMatchObject({ scopes: 'site:read', givenScopes: '' })
  await restoreAt(file, full ?? '')
  expect(await check()).toMatchObject({ scopes: 'site:read', tokenScopes: 'site:read', givenScopes: '' })
})
