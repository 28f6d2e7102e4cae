import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import type { Environment } from '../../src/domain/app.ts'
import { deleteApp } from '../../src/operations/apps/apps.ts'
import { addMember } from '../../src/operations/apps/members.ts'
import { system } from '../../src/operations/audit/event.ts'
import {
  createCredential,
  listCredentials,
  revokeCredential,
  rotateCredential,
} from '../../src/operations/credentials/credentials.ts'
import { decide } from '../../src/operations/decide.ts'
import { createInstall, moveInstall } from '../../src/operations/installs/installs.ts'
import { chooseMailTopics, readMailTopics, tellWaitingWork } from '../../src/operations/mails/news.ts'
import { sendNextMail } from '../../src/operations/mails/send-mails.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { writeReviewMessage } from '../../src/operations/versions/review.ts'
import { approveAndActivate, moveVersion } from '../../src/operations/versions/move-version.ts'
import { startMailServer } from '../support/mail-server.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { submitVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { developmentCaller, sessionOf } from './support/owner.ts'

const withoutMail = await platformOfFile()
const server = await startMailServer()
afterAll(async () => await server.down())
let passed = 0
const now = () => withoutMail.clock.now() + passed
const platform: Platform = {
  ...withoutMail,
  mailer: server.mailer(),
  clock: { ...withoutMail.clock, now, purgeBefore: now },
}
const { queries: q } = platform.database
const hour = 3_600_000

/** Sends everything that is due, and gives the new mails. */
const deliver = async () => {
  const before = server.received.length
  while (await sendNextMail(platform, trace, server.mailer())) continue
  return server.received.slice(before)
}
const heads = async (): Promise<readonly string[]> =>
  (await deliver()).map(({ to, head }) => `${to.join(' ')}: ${/^Subject: (.*)$/m.exec(head)?.[1] ?? ''}`)
afterEach(async () => void (await deliver()))

const reject = async ({ slug }: AppInWorld) => {
  const rejection = { message: 'The <secret> reason.', items: [] }
  await moveVersion(platform, trace, operator, { slug, version: '1.0.0', step: 'reject', rejection })
}
const submitted = async () => {
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  await submitVersion(platform, app, { version: '1.0.0' })
  await deliver()
  return { user, app }
}
const choose = async (login: Login, chosen: readonly string[]) => {
  const offered = ['reviews', 'installs', 'endpoints', 'secrets', 'waiting'] as const
  await chooseMailTopics(platform, trace, await sessionOf(platform, login), { chosen, offered })
  await deliver()
}
const addOperator = async (): Promise<Login> => {
  const login = await addUser(platform)
  await setOperator(platform, trace, operator, { userId: login.id, isOperator: true })
  await deliver()
  return login
}
const pendingInstall = async (user: Login, app: AppInWorld) =>
  (
    await createInstall(platform, trace, operator, {
      slug: app.slug,
      userEmail: user.email,
      kind: 'site',
      resourceSlug: 'my-site',
    })
  ).id

test('a decision about a version is told to the team once, with a link to its page and without the reasons', async () => {
  const { user, app } = await submitted()
  const developer = await addUser(platform)
  await addMember(platform, trace, operator, { slug: app.slug, email: developer.email, role: 'developer' })
  await deliver()
  await reject(app)
  const told = await deliver()
  expect(told.map(({ to }) => to).toSorted()).toEqual([[user.email], [developer.email]].toSorted())
  const [mail] = told
  expect(mail?.text).toContain(`/console/${app.slug}/versions/1.0.0`)
  expect(mail?.text).not.toContain('reason.')
  expect(await heads()).toEqual([])
  await submitVersion(platform, app, { version: '2.0.0' })
  await approveAndActivate(platform, trace, operator, { slug: app.slug, version: '2.0.0' })
  const approved = await deliver()
  expect(approved.map(({ text }) => text.includes('Users get it now.'))).toEqual([true, true])
})

test('a question is told to the team, and its answer to the operators', async () => {
  const { user, app } = await submitted()
  const asking = await addOperator()
  const about = { slug: app.slug, version: '1.0.0' }
  const text = 'What is it for?'
  await writeReviewMessage(platform, trace, { kind: 'operator', id: asking.id }, { ...about, side: 'operators', text })
  const [asked] = await deliver()
  expect(asked?.to).toEqual([user.email])
  expect(asked?.text).not.toContain(text)
  await writeReviewMessage(platform, trace, { kind: 'user', id: user.id }, { ...about, side: 'members', text: 'Mail.' })
  const [answered] = await deliver()
  expect(answered?.to).toContain(asking.email)
  expect(answered?.to).not.toContain(user.email)
  expect(answered?.text).toContain(`/desk/reviews/${app.slug}/1.0.0`)
})

test('a decision about an install is told to its user, and one that nobody decided is not', async () => {
  const { app } = await submitted()
  await moveVersion(platform, trace, operator, { slug: app.slug, version: '1.0.0', step: 'approve', rejection: null })
  await moveVersion(platform, trace, operator, { slug: app.slug, version: '1.0.0', step: 'activate', rejection: null })
  const guest = await addUser(platform)
  await deliver()
  const id = await pendingInstall(guest, app)
  await moveInstall(platform, trace, operator, { id, step: 'approve' })
  expect(await heads()).toEqual([`${guest.email}: Install approved at App Platform`])
  const other = await addApp(platform, guest)
  await deliver()
  const automatic: Platform = { ...platform, installApproval: 'automatic' }
  const input = { slug: other.slug, userEmail: guest.email, kind: 'site', resourceSlug: 'my-site' } as const
  await createInstall(automatic, trace, operator, input)
  expect(await heads()).toEqual([])
})

test('an endpoint that the server disabled is told to those who may change it', async () => {
  const { user, app } = await submitted()
  const developer = await addUser(platform)
  await addMember(platform, trace, operator, { slug: app.slug, email: developer.email, role: 'developer' })
  await deliver()
  const target = `whk_${'0'.repeat(32)}`
  await decide(platform, trace, { actor: system }, async ({ record }) => {
    await record({ action: 'webhook.disabled', appId: app.id, environment: 'production', target })
  })
  expect(await heads()).toEqual([`${user.email}: Webhook endpoint disabled at App Platform`])
})

test('who does not want a kind of mail gets none of it, and all that concerns the sign-in', async () => {
  const { user, app } = await submitted()
  expect(await readMailTopics(platform, user.id)).toEqual(['reviews', 'installs', 'endpoints', 'secrets', 'waiting'])
  await choose(user, ['installs', 'no such topic'])
  expect(await readMailTopics(platform, user.id)).toEqual(['installs'])
  await reject(app)
  expect(await heads()).toEqual([])
  await choose(user, ['reviews', 'installs'])
  await submitVersion(platform, app, { version: '2.0.0' })
  await moveVersion(platform, trace, operator, { slug: app.slug, version: '2.0.0', step: 'approve', rejection: null })
  expect(await heads()).toEqual([`${user.email}: Version approved at App Platform`])
})

test('nobody who is disabled or erased gets any, and what is gone is not told', async () => {
  const { user, app } = await submitted()
  await setUserStatus(platform, trace, operator, { email: user.email, status: 'disabled' })
  await deliver()
  await reject(app)
  expect(await heads()).toEqual([])
  const guest = await addUser(platform)
  await choose(guest, [])
  await eraseUser(platform, trace, operator, { email: guest.email })
  expect(await q.mutedMails.ofUser(guest.id)).toEqual([])
})

test('operators are told what waits, at most once an hour, and not of the same twice', async () => {
  const told = await addOperator()
  const { app } = await submitted()
  const digests = async () => {
    await tellWaitingWork(platform)
    await tellWaitingWork(platform)
    return (await deliver()).filter(({ to }) => to.includes(told.email))
  }
  const [first, ...others] = await digests()
  expect(others).toEqual([])
  expect(first?.text).toMatch(/Waiting for an operator: \d+ versions? to review and \d+ installs? to approve\./)
  await submitVersion(platform, app, { version: '2.0.0' })
  expect(await digests()).toEqual([])
  passed += hour + 1
  expect(await digests()).toHaveLength(1)
  passed += hour + 1
  expect(await digests()).toEqual([])
  await choose(told, ['reviews'])
  await submitVersion(platform, app, { version: '3.0.0' })
  passed += hour + 1
  expect(await digests()).toEqual([])
})

const withSecret = async () => {
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  await deliver()
  return { user, app }
}
const rotate = async (app: AppInWorld, graceHours: number, environment: Environment = 'development') => {
  const rotated = await rotateCredential(platform, trace, operator, {
    clientId: app[environment].clientId,
    graceHours,
  })
  await deliver()
  return rotated
}
const revokeAll = async ({ slug }: AppInWorld) => {
  for (const { id } of await listCredentials(platform, slug)) await revokeCredential(platform, trace, operator, id)
}
const pass = async (hours: number) => {
  passed += hours * hour
  return (await deliver()).filter(({ head }) => head.includes('Secret about to expire'))
}

describe('the end of a rotated secret', () => {
  test('is told once, a day before, to those who may replace it, with whether it is still used', async () => {
    const { user, app } = await withSecret()
    const [developer, admin] = [await addUser(platform), await addUser(platform)]
    await addMember(platform, trace, operator, { slug: app.slug, email: developer.email, role: 'developer' })
    await addMember(platform, trace, operator, { slug: app.slug, email: admin.email, role: 'admin' })
    await revokeAll(app)
    await createCredential(platform, trace, operator, { slug: app.slug, environment: 'production', label: 'ci <old>' })
    await rotate(app, 72, 'production')
    expect(await pass(47.9)).toEqual([])
    const told = await pass(0.2)
    expect(told.map(({ to }) => to).toSorted()).toEqual([[user.email], [admin.email]].toSorted())
    const [mail] = told
    expect(mail?.text).toContain('“ci <old>”')
    expect(mail?.text).toContain('Nothing has used it since.')
    expect(mail?.text).toContain(`/console/${app.slug}/credentials?environment=production`)
    expect(await pass(30)).toEqual([])
  })

  test('is told in the middle of a short grace period, and says that something still uses it', async () => {
    const { user, app } = await withSecret()
    await rotate(app, 2)
    passed += 0.5 * hour
    await developmentCaller(platform, app)
    const [mail, ...others] = await pass(0.6)
    expect(others).toEqual([])
    expect(mail?.to).toEqual([user.email])
    expect(mail?.text).toMatch(/It was last used on \d{4}-\d\d-\d\d at \d\d:\d\d UTC, after that/)
  })

  test('is not told of one that ended before, ends at once, or belongs to a deleted app', async () => {
    const { app } = await withSecret()
    await rotate(app, 0)
    expect(await pass(1)).toEqual([])
    await rotate(app, 24, 'production')
    await revokeAll(app)
    expect(await pass(13)).toEqual([])
    const { app: doomed } = await withSecret()
    await rotate(doomed, 24)
    await deleteApp(platform, trace, operator, doomed.slug)
    expect(await pass(13)).toEqual([])
  })

  test('is told once for one secret, however often it is rotated', async () => {
    const { app } = await withSecret()
    const first = await rotate(app, 48)
    await revokeCredential(platform, trace, operator, first.id)
    await rotate(app, 24)
    expect(await pass(12.1)).toHaveLength(1)
    expect(await pass(24.1)).toEqual([])
  })

  test('is not told to who does not want it, and does not count as waiting', async () => {
    const { user, app } = await withSecret()
    await choose(user, ['reviews'])
    await rotate(app, 24)
    expect(await q.mails.countWaiting(now(), 10)).toBe(0)
    expect(await pass(13)).toEqual([])
  })

  test('is told once by several servers, also after one of them was killed in between', async () => {
    const { app } = await withSecret()
    await rotate(app, 24)
    passed += 13 * hour
    const before = server.received.length
    await Promise.all([1, 2, 3].map(async () => await sendNextMail(platform, trace, server.mailer())))
    await deliver()
    expect(server.received.slice(before)).toHaveLength(1)
  })
})

test('without a mail server nothing is written', async () => {
  const { app } = await submitted()
  const rejection = { message: 'No.', items: [] }
  await moveVersion(withoutMail, trace, operator, { slug: app.slug, version: '1.0.0', step: 'reject', rejection })
  await tellWaitingWork(withoutMail)
  expect(await heads()).toEqual([])
})
