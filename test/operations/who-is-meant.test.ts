import { describe, expect, test } from 'bun:test'
import { createApp } from '../../src/operations/apps/apps.ts'
import type { Operation } from '../../src/operations/decide.ts'
import { endUserAccess, endUserSessions } from '../../src/operations/end-access.ts'
import { resetFactors } from '../../src/operations/factors/change-factors.ts'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { confirmUser, createResetLink, resetPassword } from '../../src/operations/users/passwords.ts'
import { eraseUser, exportUser } from '../../src/operations/users/personal-data.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { createUser, renameUser, setOperator, setUserEmail } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addApp, addUser, fresh } from '../support/world.ts'
import { meanwhileOn } from './support/meanwhile.ts'
import { refusalOf } from './support/owner.ts'

const platform = await platformOfFile()
const { queries } = platform.database
const app = await addApp(platform, await addUser(platform))
const password = 'another good password'
const scopes = 'site:read'

type Deed = (on: typeof platform, userId: string) => Promise<unknown>
const deed =
  <Input>(operation: Operation<Input, unknown>, input: (userId: string) => Input): Deed =>
  async (on, userId) =>
    await operation(on, trace, operator, input(userId))

/** What pages and other calls do with a person whose ID they have. */
const deeds: Readonly<Record<string, Deed>> = {
  rename: deed(renameUser, (userId) => ({ userId, name: 'Another Name' })),
  'set-email': deed(setUserEmail, (userId) => ({ userId, to: `${fresh('third')}@example.com` })),
  disable: deed(setUserStatus, (userId) => ({ userId, status: 'disabled' as const })),
  confirm: deed(confirmUser, (userId) => ({ userId })),
  'reset-factors': deed(resetFactors, (userId) => ({ userId })),
  'end-access': deed(endUserAccess, (userId) => ({ userId })),
  'sign-out': deed(endUserSessions, (userId) => ({ userId })),
  'reset-password': deed(resetPassword, (userId) => ({ userId, password })),
  'reset-link': deed(createResetLink, (userId) => userId),
  operator: deed(setOperator, (userId) => ({ userId, isOperator: true })),
  'create-app': deed(createApp, (ownerId) => ({ ownerId, name: 'An app', slug: fresh('app'), scopes })),
  install: deed(createInstall, (userId) => ({
    userId,
    slug: app.slug,
    kind: 'site' as const,
    resourceSlug: 'my-site',
  })),
  export: async (on, userId) => await exportUser(on, { userId }),
}

describe.each(Object.entries(deeds))('%s', (_, act) => {
  test('is about the person of the ID, though another one gets their address before its transaction', async () => {
    const meant = await addUser(platform)
    const facts = { email: meant.email, name: 'Another Person', password, isOperator: false }
    const moving = meanwhileOn(platform, async (transaction) => {
      if (transaction !== 1) return
      await setUserEmail(platform, trace, operator, { userId: meant.id, to: `${fresh('moved')}@example.com` })
      await createUser(platform, trace, operator, facts)
    })
    await act(moving, meant.id)
    const other = await queries.users.byEmail(meant.email)
    const about = (await auditEvents(platform)).filter(({ target, detail }) =>
      `${target} ${detail}`.includes(other?.id ?? meant.email),
    )
    expect(about.map(({ action }) => action)).toEqual(other === null ? [] : ['user.created'])
    expect(await queries.apps.listOwnedBy(other?.id ?? '')).toEqual([])
  })

  test('finds nobody who was erased', async () => {
    const { id, email } = await addUser(platform)
    await eraseUser(platform, trace, operator, { email })
    const erased = await queries.users.byId(id)
    expect(await refusalOf(act(platform, id))).toBe('invalid_request')
    expect(await queries.users.byId(id)).toEqual(erased)
  })
})
