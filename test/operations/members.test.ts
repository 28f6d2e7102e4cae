import { beforeEach, describe, expect, test } from 'bun:test'
import { type MemberRole, memberRoles, type OfferedRole } from '../../src/domain/member.ts'
import { actingAs, mayInActiveApp, mayInApp, type Rule } from '../../src/operations/acting-as.ts'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { deleteApp, renameApp, transferApp } from '../../src/operations/apps/apps.ts'
import {
  acceptInvitation,
  inviteMember,
  listInvitations,
  mayRevokeInvitation,
  openInvitation,
  revokeInvitation,
  addMember,
  changeMemberRole,
  listMembers,
  mayChangeMember,
  removeMember,
} from '../../src/operations/apps/members.ts'
import { listOwnApps } from '../../src/operations/apps/lists.ts'
import { listAppEvents } from '../../src/operations/audit/read-audit.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import { endUserAccess } from '../../src/operations/end-access.ts'
import { setUserEmail } from '../../src/operations/users/users.ts'
import { eraseUser, exportUser } from '../../src/operations/users/personal-data.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
const dead = 'version_not_eligible'

let owner: Login
let app: AppInWorld
beforeEach(async () => {
  owner = await addUser(platform)
  app = await addApp(platform, owner)
})

const add = async (role: MemberRole, login?: Login): Promise<Login> => {
  const member = login ?? (await addUser(platform, 'Grace Example'))
  await addMember(platform, trace, operator, { slug: app.slug, email: member.email, role })
  return member
}
/** The platform and the actor as a page has them for this person. */
const as = async (login: Login, may: Rule) =>
  [actingAs(platform, trace, await sessionOf(platform, login), { may }), trace, { kind: 'user', id: login.id }] as const
const remove = async (by: Login, whom: Login) =>
  await removeMember(...(await as(by, mayChangeMember(app.slug, whom.id, null))), {
    slug: app.slug,
    userId: whom.id,
  })
const setRole = async (by: Login, whom: Login, role: MemberRole) =>
  await changeMemberRole(...(await as(by, mayChangeMember(app.slug, whom.id, role))), {
    slug: app.slug,
    userId: whom.id,
    role,
  })
const invite = async (role: OfferedRole, email: string, invitedBy = owner) => {
  const made = await inviteMember(platform, trace, operator, { slug: app.slug, email, role, invitedBy: invitedBy.id })
  return { id: made.id, secret: new URL(made.link).searchParams.get('link') ?? '' }
}
const accept = async (login: Login, secret: string, on: Platform = platform) =>
  await acceptInvitation(on, trace, await sessionOf(platform, login), secret)
const roleOf = async ({ id }: Login) => (await platform.database.queries.appMembers.access(id, app.slug))?.role ?? null
const later = (seconds: number): Platform => ({
  ...platform,
  clock: { ...platform.clock, now: () => platform.clock.now() + seconds * 1000 },
})
const q = platform.database.queries

describe('the rights', () => {
  test('grow from developer to admin to owner, and nobody else has any', async () => {
    const people = new Map<MemberRole, Login>()
    for (const role of memberRoles) people.set(role, await add(role))
    const least = [
      ['view', 'developer'],
      ['release', 'developer'],
      ['developmentSecrets', 'developer'],
      ['resendEvents', 'developer'],
      ['productionSecrets', 'admin'],
      ['settings', 'admin'],
      ['webhooks', 'admin'],
      ['members', 'admin'],
      ['owners', 'owner'],
      ['transfer', 'owner'],
      ['delete', 'owner'],
    ] as const
    const stranger = await addUser(platform)
    for (const [right, leastRole] of least) {
      for (const [role, { id }] of people) {
        const code = (await mayInActiveApp(app.slug, right)(q, id))?.code ?? null
        const isAllowed = memberRoles.indexOf(role) <= memberRoles.indexOf(leastRole)
        expect([right, role, code]).toEqual([right, role, isAllowed ? null : 'right_missing'])
      }
      expect((await mayInApp(app.slug, right)(q, stranger.id))?.code).toBe('route_not_found')
      expect(await mayInApp(app.slug, right)(q, owner.id)).toBeNull()
    }
  })

  test('over members end where those of owners begin', async () => {
    const [admin, other, second] = [await add('admin'), await add('developer'), await add('owner')]
    expect(await refusalOf(setRole(admin, other, 'owner'))).toBe('right_missing')
    expect(await refusalOf(setRole(admin, admin, 'owner'))).toBe('right_missing')
    expect(await refusalOf(remove(admin, second))).toBe('right_missing')
    expect(await refusalOf(setRole(admin, second, 'developer'))).toBe('right_missing')
    expect(await refusalOf(remove(other, admin))).toBe('right_missing')
    await setRole(admin, other, 'admin')
    await setRole(second, admin, 'owner')
    expect([await roleOf(admin), await roleOf(other), await roleOf(second)]).toEqual(['owner', 'admin', 'owner'])
  })

  test('are refused in the audit log', async () => {
    const developer = await add('developer')
    const may = mayInActiveApp(app.slug, 'settings')
    expect(await refusalOf(renameApp(...(await as(developer, may)), { slug: app.slug, name: 'Mine' }))).toBe(
      'right_missing',
    )
    expect((await auditEvents(platform)).at(-1)).toMatchObject({ outcome: 'refused', reason: 'right_missing' })
  })
})

describe('an owner', () => {
  test('there always is: the publisher cannot leave, be removed or be demoted, also by another owner', async () => {
    const second = await add('owner')
    for (const by of [owner, second]) {
      expect(await refusalOf(remove(by, owner))).toBe('owns_apps')
      expect(await refusalOf(setRole(by, owner, 'developer'))).toBe('owns_apps')
    }
    expect(await refusalOf(removeMember(platform, trace, operator, { slug: app.slug, userId: owner.id }))).toBe(
      'owns_apps',
    )
    expect(await roleOf(owner)).toBe('owner')
    await remove(second, second)
    expect(await roleOf(second)).toBeNull()
  })

  test('who is disabled leaves the app suspended or transferred, as ever', async () => {
    const second = await add('admin')
    await setUserStatus(platform, trace, operator, {
      email: owner.email,
      status: 'disabled',
      apps: { kind: 'transfer', email: second.email },
    })
    expect([await roleOf(second), await roleOf(owner)]).toEqual(['owner', null])
    expect((await listMembers(platform, app.slug)).map(({ userId }) => userId)).toEqual([second.id])
  })
})

test('a member who was removed can do nothing with a form that is open, and does not see the app', async () => {
  const admin = await add('admin')
  const open = await as(admin, mayInActiveApp(app.slug, 'settings'))
  await remove(owner, admin)
  expect(await refusalOf(renameApp(...open, { slug: app.slug, name: 'Mine' }))).toBe('route_not_found')
  expect(await refusalOf(ownedApp(platform, admin.id, app.slug))).toBe('route_not_found')
  expect(await listOwnApps(platform, admin.id)).toEqual([])
})

test('of two admins who remove each other at the same time one stays', async () => {
  const [one, other] = [await add('admin'), await add('admin')]
  const answers = await Promise.all([refusalOf(remove(one, other)), refusalOf(remove(other, one))])
  expect(answers.toSorted()).toEqual(['done', 'route_not_found'])
  expect([await roleOf(one), await roleOf(other)].filter((role) => role !== null)).toEqual(['admin'])
})

test('the invitations of a member end with them and with their role', async () => {
  const [admin, other] = [await add('admin'), await add('admin')]
  const [guest, late] = [await addUser(platform), await addUser(platform)]
  const first = await invite('admin', guest.email, admin)
  const second = await invite('admin', late.email, other)
  await remove(owner, admin)
  await setRole(owner, other, 'developer')
  expect(await refusalOf(accept(guest, first.secret))).toBe(dead)
  expect(await refusalOf(accept(late, second.secret))).toBe(dead)
  expect(await listInvitations(platform, app.id)).toEqual([])
})

describe('an invitation', () => {
  test('makes the signed-in person of the address a member, once', async () => {
    const guest = await addUser(platform)
    const { secret } = await invite('developer', guest.email.toUpperCase())
    const session = await sessionOf(platform, guest)
    for (let reading = 0; reading < 2; reading += 1) {
      expect(await openInvitation(platform, trace, session, secret)).toMatchObject({ role: 'developer' })
    }
    expect(await roleOf(guest)).toBeNull()
    expect(await accept(guest, secret)).toEqual({ slug: app.slug })
    expect(await roleOf(guest)).toBe('developer')
    expect((await listOwnApps(platform, guest.id)).map(({ slug, role }) => [slug, role])).toEqual([
      [app.slug, 'developer'],
    ])
    await remove(owner, guest)
    expect(await refusalOf(accept(guest, secret))).toBe(dead)
  })

  test('accepted many times at once makes one member', async () => {
    const guest = await addUser(platform)
    const { secret } = await invite('admin', guest.email)
    const answers = await Promise.all(Array.from({ length: 6 }, async () => await refusalOf(accept(guest, secret))))
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1)
    expect((await listMembers(platform, app.slug)).map(({ userId }) => userId)).toEqual([owner.id, guest.id])
  })

  test('is of no use to anybody else, after a day, after it was revoked or replaced, or with a wrong secret', async () => {
    const [guest, other] = [await addUser(platform), await addUser(platform)]
    const first = await invite('admin', guest.email)
    expect(await refusalOf(accept(other, first.secret))).toBe('right_missing')
    expect(await refusalOf(accept(guest, first.secret, later(24 * 3600)))).toBe(dead)
    expect(
      await refusalOf(
        accept(
          guest,
          first.secret.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
        ),
      ),
    ).toBe(dead)
    const second = await invite('admin', guest.email)
    expect(await refusalOf(accept(guest, first.secret))).toBe(dead)
    await revokeInvitation(platform, trace, operator, { slug: app.slug, id: second.id })
    expect(await refusalOf(accept(guest, second.secret))).toBe(dead)
    expect(await refusalOf(revokeInvitation(platform, trace, operator, { slug: app.slug, id: second.id }))).toBe(dead)
    expect([await roleOf(guest), await roleOf(other)]).toEqual([null, null])
    const refused = (await auditEvents(platform)).filter(({ action }) => action === 'member.use_invitation')
    expect(refused.length).toBeGreaterThanOrEqual(5)
  })

  test('does not follow a person to another address, and works no longer than who made it may invite', async () => {
    const [guest, late, inviter] = [await addUser(platform), await addUser(platform), await addUser(platform)]
    await add('owner', inviter)
    const moved = await invite('admin', guest.email)
    await setUserEmail(platform, trace, operator, { email: guest.email, to: `moved-${guest.email}` })
    expect(await refusalOf(accept({ ...guest, email: `moved-${guest.email}` }, moved.secret))).toBe('right_missing')
    const offered = await invite('owner', late.email, inviter)
    await setUserStatus(platform, trace, operator, { email: inviter.email, status: 'disabled' })
    expect(await refusalOf(accept(late, offered.secret))).toBe(dead)
    await deleteApp(platform, trace, operator, app.slug)
    const onDeleted = await refusalOf(invite('admin', late.email))
    expect(onDeleted).toBe('invalid_request')
  })

  test('ends for good when whoever made it is disabled, or their access is ended', async () => {
    const endings = [
      async ({ email }: Login) => {
        for (const status of ['disabled', 'active'] as const)
          await setUserStatus(platform, trace, operator, { email, status })
      },
      async ({ email }: Login) => void (await endUserAccess(platform, trace, operator, { email })),
    ]
    for (const end of endings) {
      const [inviter, guest] = [await add('owner'), await addUser(platform)]
      const offered = await invite('developer', guest.email, inviter)
      await end(inviter)
      expect(await refusalOf(accept(guest, offered.secret))).toBe(dead)
    }
  })

  test('is answered alike for an address with an account and for one without', async () => {
    const known = await addUser(platform)
    const answers = [await invite('admin', known.email), await invite('admin', `nobody-${known.email}`)]
    expect(new Set(answers.map(({ id, secret }) => `${id.length} ${secret.length}`)).size).toBe(1)
    expect(await refusalOf(invite('admin', owner.email))).toBe('invalid_request')
    expect(await refusalOf(invite('admin', 'no address'))).toBe('invalid_request')
  })

  test('to an address is replaced only by somebody who could revoke it', async () => {
    const [admin, guest] = [await add('admin'), await addUser(platform)]
    const offer = await invite('publisher', guest.email)
    expect(await refusalOf(invite('developer', guest.email, admin))).toBe('right_missing')
    expect((await listInvitations(platform, app.id)).map(({ id }) => id)).toEqual([offer.id])
    await invite('developer', guest.email, owner)
    expect(await refusalOf(accept(guest, offer.secret))).toBe(dead)
  })

  test('can be revoked by whoever may give its role', async () => {
    const [admin, developer] = [await add('admin'), await add('developer')]
    const toOwner = await invite('owner', 'one@example.com')
    const toAdmin = await invite('admin', 'two@example.com')
    const may = async ({ id }: Login, invitation: string) =>
      (await mayRevokeInvitation(app.slug, invitation)(q, id))?.code ?? null
    expect([await may(admin, toOwner.id), await may(admin, toAdmin.id), await may(developer, toAdmin.id)]).toEqual([
      'right_missing',
      null,
      'right_missing',
    ])
    const stranger = await addUser(platform)
    expect(await may(stranger, toAdmin.id)).toBe('route_not_found')
    const elsewhere = await addApp(platform, owner)
    expect((await mayRevokeInvitation(elsewhere.slug, toAdmin.id)(q, owner.id))?.code).toBe('route_not_found')
  })
})

describe('a transfer', () => {
  test('needs the consent of the new publisher; the old one stays an owner and can then leave', async () => {
    const heir = await add('developer')
    const { secret } = await invite('publisher', heir.email)
    expect((await q.apps.byId(app.id))?.ownerId).toBe(owner.id)
    await accept(heir, secret)
    expect((await q.apps.byId(app.id))?.ownerId).toBe(heir.id)
    const people = async () => (await listMembers(platform, app.slug)).map((one) => [one.userId, one.isPublisher])
    expect(await people()).toEqual([
      [heir.id, true],
      [owner.id, false],
    ])
    expect(await refusalOf(accept(heir, secret))).toBe(dead)
    await remove(owner, owner)
    expect(await people()).toEqual([[heir.id, true]])
  })

  test('is no offer to oneself, also not to an address that one takes later', async () => {
    const second = await add('owner')
    const offer = async (email: string) => await refusalOf(invite('publisher', email, second))
    expect(await offer(second.email.toUpperCase())).toBe('invalid_request')
    const moved = `moved-${second.email}`
    const { secret } = await invite('publisher', moved, second)
    await setUserEmail(platform, trace, operator, { email: second.email, to: moved })
    expect(await refusalOf(accept({ ...second, email: moved }, secret))).toBe('invalid_request')
    expect((await q.apps.byId(app.id))?.ownerId).toBe(owner.id)
  })

  test('ends every other offer of the app, or an older one would take it from its new publisher', async () => {
    const [heir, other] = [await addUser(platform), await addUser(platform)]
    const older = await invite('publisher', other.email, await add('owner'))
    await accept(heir, (await invite('publisher', heir.email)).secret)
    expect(await refusalOf(accept(other, older.secret))).toBe(dead)
    expect((await q.apps.byId(app.id))?.ownerId).toBe(heir.id)
  })

  test('is bound to the quota of the new publisher', async () => {
    const heir = await addUser(platform)
    const { secret } = await invite('publisher', heir.email)
    const full = { ...platform, quotas: { ...platform.quotas, apps: 0 } }
    expect(await refusalOf(accept(heir, secret, full))).toBe('quota_exceeded')
    await accept(heir, secret)
  })

  test('by an operator leaves the previous publisher nothing', async () => {
    const heir = await add('admin')
    const offered = await invite('owner', 'friend@example.com')
    await transferApp(platform, trace, operator, { slug: app.slug, email: heir.email })
    expect([await roleOf(owner), await roleOf(heir)]).toEqual([null, 'owner'])
    expect(await listInvitations(platform, app.id)).not.toContainEqual(expect.objectContaining({ id: offered.id }))
  })
})

test('the audit log of an app names members in what they do for the app, and no other people', async () => {
  const [admin, stranger] = [await add('admin'), await addUser(platform)]
  await renameApp(...(await as(admin, mayInActiveApp(app.slug, 'settings'))), { slug: app.slug, name: 'New' })
  const reader = { app: { id: app.id, ownerId: owner.id }, userId: owner.id }
  const every = { action: null, outcome: null, since: null, until: null }
  const { data } = await listAppEvents(platform, reader, every, { limit: 50, cursor: null })
  expect(data.find(({ action }) => action === 'app.renamed')).toMatchObject({ actorId: admin.id, address: null })
  expect(data.find(({ action }) => action === 'member.added')).toMatchObject({ target: admin.id })
  expect(JSON.stringify(data)).not.toContain(stranger.id)
})

test('an erased person leaves no membership and no invitation; until then their export names both', async () => {
  const member = await add('admin')
  const mine = await addApp(platform, await addUser(platform))
  const invited = { slug: mine.slug, email: member.email, role: 'owner', invitedBy: owner.id } as const
  await inviteMember(platform, trace, operator, invited)
  const { memberships, invitations } = await exportUser(platform, member)
  expect(memberships).toMatchObject([{ appId: app.id, role: 'admin', endedAt: null }])
  expect(invitations).toMatchObject([{ appId: mine.id, role: 'owner' }])
  await eraseUser(platform, trace, operator, { email: member.email })
  expect(await q.personal.rows('memberships', member.id)).toEqual([])
  expect(await q.personal.rows('invitations', '', member.email)).toEqual([])
})

test('the purge removes invitations that have expired', async () => {
  const { id } = await invite('admin', 'late@example.com')
  const then = () => platform.clock.now() + 50 * 3600 * 1000 // IDs go on from the latest one, which a test above made a day ahead
  const on = { ...platform, clock: { ...platform.clock, now: then, purgeBefore: then } }
  await purgeAll(
    on,
    trace,
    async () => {},
    () => false,
  )
  expect(await q.appInvitations.find(id)).toBeNull()
})
