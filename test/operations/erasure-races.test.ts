import { describe, expect, test } from 'bun:test'
import { PlatformError } from '../../src/domain/errors.ts'
import { inviteMember } from '../../src/operations/apps/members.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { putBuilderUser } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addApp, addUser } from '../support/world.ts'
import { meanwhileOn } from './support/meanwhile.ts'

const platform = await platformOfFile()
const { queries } = platform.database
const owner = await addUser(platform)
const app = await addApp(platform, owner)

const put = async (externalId: string, email: string) =>
  await putBuilderUser(platform, trace, operator, {
    externalId,
    email,
    name: 'Somebody',
    pictureUrl: null,
    status: null,
  })
const erase = async (externalId: string, on = platform) => await eraseUser(on, trace, operator, { externalId })
const invite = async (email: string) =>
  await inviteMember(platform, trace, operator, { slug: app.slug, email, role: 'developer', invitedBy: owner.id })
const invitationsTo = async (email: string) => await queries.personal.rows('invitations', '', email)
const actionsAbout = async (id: string) =>
  (await auditEvents(platform)).filter(({ target }) => target === id).map(({ action }) => action)

describe('an erasure', () => {
  test('happens once, however many calls ask for it at once: for the others there is nobody', async () => {
    const { user } = await put('often', 'often@example.com')
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, async () => await erase('often')))
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refusals).toHaveLength(7)
    for (const refusal of refusals) expect((refusal as PlatformError).code).toBe('record_not_found')
    expect((await actionsAbout(user.id)).filter((action) => action === 'user.erased')).toHaveLength(1)
  })

  test.each([1, 2, 3])(
    'removes what has the address of that moment, changed before its transaction %d, and nothing of who has the old one',
    async (moment) => {
      const [old, changed] = [`old-${moment}@example.com`, `new-${moment}@example.com`]
      const { user } = await put(`moved-${moment}`, old)
      await invite(changed)
      const onceMoved = meanwhileOn(platform, async (transaction) => {
        if (transaction !== moment) return
        await put(`moved-${moment}`, changed)
        await put(`next-${moment}`, old)
        await invite(old)
      })
      await erase(`moved-${moment}`, onceMoved)
      expect((await queries.users.byId(user.id))?.erasedAt).not.toBeNull()
      expect(await invitationsTo(changed)).toEqual([])
      expect(await invitationsTo(old)).toHaveLength(1)
    },
  )

  test.each([1, 2, 3])('that another one overtakes before its transaction %d changes nothing more', async (moment) => {
    const { user } = await put(`twice-${moment}`, `twice-${moment}@example.com`)
    let told = -1
    const overtaken = meanwhileOn(platform, async (transaction) => {
      if (transaction !== moment) return
      await erase(`twice-${moment}`)
      await put(`other-${moment}`, `twice-${moment}@example.com`)
      await invite(`twice-${moment}@example.com`)
      told = (await actionsAbout(user.id)).length
    })
    const refused: unknown = await erase(`twice-${moment}`, overtaken).catch((error: unknown) => error)
    expect((refused as PlatformError).code).toBe('record_not_found')
    expect(await actionsAbout(user.id)).toHaveLength(told)
    expect(await invitationsTo(`twice-${moment}@example.com`)).toHaveLength(1)
  })
})
