import type { OfferedRole } from '../../src/domain/member.ts'
import { auditActions } from '../../src/domain/audit-action.ts'
import {
  isNews,
  isOperatorMail,
  mailKinds,
  mailTimeoutMs,
  mailToldBy,
  pauseAfterMail,
  writtenLetter,
} from '../../src/domain/mail.ts'
import { noPassword } from '../../src/domain/password.ts'
import { decide } from '../../src/operations/decide.ts'
import { readConditions, readHealth } from '../../src/operations/health/health.ts'
import { letterOf } from '../../src/operations/mails/letters.ts'
import { noticeMailTrouble, sendNextMail } from '../../src/operations/mails/send-mails.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import { eraseUser, exportUser } from '../../src/operations/users/personal-data.ts'
import {
  askForEmail,
  askForLink,
  createResetLink,
  inviteUser,
  openPasswordLink,
  useEmailLink,
  usePasswordLink,
  changePassword,
} from '../../src/operations/users/passwords.ts'
import { createUser, setUserEmail } from '../../src/operations/users/users.ts'
import {
  acceptInvitation,
  inviteMember,
  openInvitation,
  revokeInvitation,
  addMember,
  removeMember,
} from '../../src/operations/apps/members.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { finishSignIn, signIn as startSignIn } from '../../src/operations/sessions/sign-in.ts'
import { createCredential, rotateCredential } from '../../src/operations/credentials/credentials.ts'
import { replaceRecoveryCodes, resetFactors } from '../../src/operations/factors/change-factors.ts'
import { linkIdentity, unlinkIdentity } from '../../src/operations/users/identities.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { inspectUser } from '../../src/operations/users/find-user.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addTotp } from '../support/factors.ts'
import { linkIn, startMailServer } from '../support/mail-server.ts'
import { operator, trace } from '../support/operator.ts'
import { signIn } from '../support/sign-in.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addApp, addUser, type Login } from '../support/world.ts'
import { rollBackVersion } from '../../src/operations/versions/move-version.ts'
import { developmentCaller, refusalOf, sessionOf, uploadVersion } from './support/owner.ts'
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'

const withoutMail = await platformOfFile()
const server = await startMailServer()
afterAll(async () => await server.down())
const mailer = server.mailer()
let passed = 0
const now = () => withoutMail.clock.now() + passed
const platform: Platform = {
  ...withoutMail,
  mailer,
  clock: { ...withoutMail.clock, now, purgeBefore: now },
}
const { queries: q } = platform.database
const next = 'four unrelated words here'
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

/** Sends everything that is due, as the job does, and returns what has arrived since. */
const deliverAll = async (by = mailer) => {
  const before = server.received.length
  while (await sendNextMail(platform, trace, by));
  await noticeMailTrouble(platform, by)
  return server.received.slice(before)
}

/** Those with a link to set a password. */
const deliver = async (by = mailer) => (await deliverAll(by)).filter((mail) => linkIn(mail) !== '')

const subjects = async () =>
  (await deliverAll()).map(({ to, head }) => [to[0], /^Subject: (.*)$/m.exec(head)?.[1]?.trim()])

let user: Login
beforeEach(async () => {
  await server.down()
  await server.up()
  server.behave({})
  passed += 40 * day
  await deliver()
  user = await addUser(platform)
})

const givenUp = async (id = user.id) =>
  (await auditEvents(platform))
    .filter(({ action, target }) => action === 'mail.given_up' && target === id)
    .map(({ detail }) => JSON.parse(detail ?? '') as unknown)
const mailsOf = async (id = user.id) => await q.personal.rows('mails', id)
const isLive = async (link: string) =>
  await openPasswordLink(platform, trace, link).then(
    () => true,
    () => false,
  )
const use = async (link: string) => await usePasswordLink(platform, trace, { link, password: next, repeated: next })
const invite = async (email: string) =>
  await inviteUser(platform, trace, operator, { email, name: 'Grace', isOperator: false })
const ask = async (email = user.email) => await askForLink(platform, trace, email)

describe('an invitation', () => {
  test('is mailed with a link of its own, which sets the password once', async () => {
    const email = `invited-${user.email}`
    const { link, user: invited } = await invite(email)
    const [mail, ...more] = await deliver()
    expect(more).toEqual([])
    expect(mail).toMatchObject({ to: [email], from: 'apps@example.com' })
    const secret = linkIn(mail ?? { text: '' })
    expect(link).not.toContain(secret)
    expect(mail?.text).toContain(`http://localhost/set-password?link=${secret}`)
    expect(mail?.html).toContain(`<a href="http://localhost/set-password?link=${secret}">`)
    await use(secret)
    expect(await isLive(secret)).toBe(false)
    expect(await isLive(new URL(link).searchParams.get('link') ?? '')).toBe(false)
    expect((await mailsOf(invited.id))[0]).toMatchObject({ state: 'sent', attempts: 1, address: null })
  })

  test('is mailed no more once the person has set a password', async () => {
    const { link } = await invite(`invited-${user.email}`)
    await use(new URL(link).searchParams.get('link') ?? '')
    expect(await deliver()).toEqual([])
  })

  test('leaves no mail without a mail server, nor when it is refused', async () => {
    const email = `invited-${user.email}`
    const { user: invited } = await inviteUser(withoutMail, trace, operator, {
      email,
      name: 'Grace',
      isOperator: false,
    })
    expect(await refusalOf(invite(email))).toBe('invalid_request')
    expect(await mailsOf(invited.id)).toEqual([])
  })
})

test('the secret of a mailed link is nowhere in the database, before and after it was sent', async () => {
  await createResetLink(platform, trace, operator, user.id)
  const before = JSON.stringify([await mailsOf(), await q.personal.rows('passwordLinks', user.id)])
  const [mail] = await deliver()
  const secret = linkIn(mail ?? { text: '' })
  expect(secret).not.toBe('')
  const rows = [await mailsOf(), await q.personal.rows('passwordLinks', user.id), await auditEvents(platform)]
  expect(before + JSON.stringify(rows)).not.toContain(secret)
})

describe('who asks for a link', () => {
  test('leaves the same row for every address, and only people who sign in with a password get a mail', async () => {
    const disabled = await addUser(platform)
    const choice = { email: disabled.email, status: 'disabled', apps: { kind: 'keep' } } as const
    await setUserStatus(platform, trace, operator, choice)
    const invited = (await invite(`invited-${user.email}`)).user
    await deliver()
    passed += hour
    const elsewhere = await addUser(platform)
    await q.users.byId(elsewhere.id)
    await platform.database.transaction(async (t) => {
      await t.users.change(elsewhere.id, { externalId: `b-${elsewhere.id}` }, now())
      await t.users.replacePassword(elsewhere.id, (await t.users.byId(elsewhere.id))?.passwordHash ?? '', '', now())
    })
    const addresses = ['nobody@example.com', disabled.email, elsewhere.email, invited.email, user.email]
    const rows: unknown[] = []
    for (const address of addresses) {
      expect(await ask(address.toUpperCase())).toBeUndefined()
      const {
        id: _id,
        createdAt: _at,
        nextAttemptAt: _next,
        address: written,
        ...row
      } = (await q.mails.nextDue(now())) ?? {}
      expect(addresses).toContain(String(written))
      rows.push(row)
    }
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(1)
    const arrived = await deliver()
    expect(arrived.map(({ to }) => to[0]).toSorted()).toEqual([invited.email, user.email].toSorted())
    const told = (await auditEvents(platform)).filter(({ action }) => action === 'user.reset_link_mailed')
    expect(
      told
        .slice(-2)
        .map(({ target }) => target)
        .toSorted(),
    ).toEqual([invited.id, user.id].toSorted())
    expect(await q.mails.nextDue(now() + day)).toBeNull()
  })

  test('keeps the password and the sessions until the link is used, and the link works once', async () => {
    const caller = await sessionOf(platform, user)
    await ask()
    const secret = linkIn((await deliver())[0] ?? { text: '' })
    expect((await q.sessions.find(caller.sessionKey))?.session.endedAt).toBeNull()
    await use(secret)
    expect((await q.sessions.find(caller.sessionKey))?.session.endedAt).not.toBeNull()
    expect(await refusalOf(use(secret))).toBe('version_not_eligible')
  })

  test('cannot flood a mailbox, and the newest mail works for somebody who asks again', async () => {
    const secrets: string[] = []
    for (let minutes = 0; minutes < 120; minutes += 5) {
      await ask()
      secrets.push(...(await deliver()).map(linkIn))
      passed += 5 * minute
    }
    expect(secrets).toHaveLength(5)
    expect(await isLive(secrets.at(-1) ?? '')).toBe(true)
    await use(secrets.at(-1) ?? '')
    await ask()
    expect(await deliver()).toHaveLength(1)
  })

  test('gets no link that outlives a change of the password', async () => {
    await ask()
    const secret = linkIn((await deliver())[0] ?? { text: '' })
    passed += hour
    server.behave({ data: 451 })
    await ask()
    expect(await deliver()).toEqual([]) // it waits for its next attempt
    server.behave({})
    const caller = await sessionOf(platform, user)
    await changePassword(platform, trace, caller, { current: user.password, next, repeated: next })
    expect(await isLive(secret)).toBe(false)
    passed += day
    expect(await deliver()).toEqual([])
  })

  test('is told when the address is malformed', async () => {
    for (const address of ['', 'a', 'a@b\r\nBcc: c@d.example', 'a@b.example,c@d.example', '<a@b.example>']) {
      expect(await refusalOf(ask(address))).toBe('invalid_request')
    }
  })
})

describe('a mail server that fails', () => {
  test('gets the mail later, with a new link, and is a condition until then', async () => {
    await server.down()
    await createResetLink(platform, trace, operator, user.id)
    expect(await deliver()).toEqual([])
    const [condition, ...others] = await readConditions(platform)
    expect(others).toEqual([])
    expect(condition).toMatchObject({ name: 'mail_fails', endsReadiness: false })
    expect(condition?.sentence).toContain(`The mail server localhost:${server.port} cannot be reached`)
    expect(await readHealth(platform)).toMatchObject({ mailsWaiting: 1 })
    await server.up()
    expect(await deliver()).toEqual([]) // not before its time
    passed += pauseAfterMail(1)
    const [mail] = await deliver()
    expect(await isLive(linkIn(mail ?? { text: '' }))).toBe(true)
    // That of the operator and the new one. The link that was not sent has ended.
    expect((await q.personal.rows('passwordLinks', user.id)).filter(({ endedAt }) => endedAt === null)).toHaveLength(2)
    expect(await readConditions(platform)).toEqual([])
  })

  test('is tried ten times within a day, and then the mail is given up', async () => {
    server.behave({ data: 554 })
    await createResetLink(platform, trace, operator, user.id)
    const began = now()
    let attempts = 0
    for (let at = (await q.mails.nextDue(now()))?.nextAttemptAt; at !== undefined && at !== null;) {
      passed += at - now() + 1
      await deliver()
      attempts += 1
      at = (await mailsOf())[0]?.nextAttemptAt
    }
    expect(attempts).toBe(10)
    expect(now() - began).toBeLessThan(day)
    expect(await mailsOf()).toMatchObject([{ state: 'failed', fault: 'refused' }])
    expect(await givenUp()).toEqual([{ kind: 'reset', fault: 'refused', attempts: 10 }])
    expect(server.received.filter(({ to }) => to.includes(user.email))).toEqual([])
  })

  test('that refuses the recipient for good gets the mail no second time, which the audit log, a condition and the user on the desk tell', async () => {
    server.behave({ rcptTo: 550 })
    await createResetLink(platform, trace, operator, user.id)
    await deliver()
    expect(await mailsOf()).toMatchObject([{ state: 'failed', fault: 'recipient', attempts: 1 }])
    expect(await givenUp()).toEqual([{ kind: 'reset', fault: 'recipient', attempts: 1 }])
    expect((await inspectUser(platform, user.id)).lastMailFault).toBe('recipient')
    expect((await readConditions(platform)).map(({ name, endsReadiness }) => [name, endsReadiness])).toEqual([
      ['mails_given_up', false],
    ])
    passed += 2 * day
    await deliver()
    expect(await readConditions(platform)).toEqual([])
    passed -= 2 * day
    await deliver()
    server.behave({ rcptTo: 451 })
    await createResetLink(platform, trace, operator, user.id)
    await deliver()
    expect((await mailsOf())[1]).toMatchObject({ state: 'pending', fault: 'recipient_later' })
    expect((await readConditions(platform)).map(({ name }) => name)).toEqual(['mails_given_up'])
    server.behave({})
    passed += pauseAfterMail(1)
    await deliver()
    expect((await inspectUser(platform, user.id)).lastMailFault).toBeNull()
  })

  test('that takes a mail to a team for some only gets it for the others again, once each, until one is given up', async () => {
    const app = await addApp(platform, user)
    const [admin, other, gone] = [await addUser(platform), await addUser(platform), await addUser(platform)]
    for (const { email } of [admin, other, gone])
      await addMember(platform, trace, operator, { slug: app.slug, email, role: 'admin' })
    await deliverAll()
    server.behave({
      rcptTo: (address) =>
        address === gone.email
          ? '550 5.1.1 No such user'
          : address === admin.email
            ? undefined
            : '451 4.7.1 Greylisted, try again in 300 seconds',
    })
    await rotateCredential(platform, trace, operator, { clientId: app.production.clientId, graceHours: 1 })
    expect((await deliverAll()).map(({ to }) => to)).toEqual([[admin.email]])
    expect(await givenUp(gone.id)).toEqual([{ kind: 'secret_made', fault: 'recipient', attempts: 1 }])
    expect((await inspectUser(platform, gone.id)).lastMailFault).toBe('recipient')
    await removeMember(platform, trace, operator, { slug: app.slug, userId: other.id })
    await deliverAll()
    server.behave({})
    passed += pauseAfterMail(1)
    const later = (await deliverAll()).filter(({ head }) => head.includes('production secret'))
    expect(later.map(({ to }) => to)).toEqual([[user.email]]) // and not to who has left the team
    passed += day
    expect(await deliverAll()).toEqual([])
  })

  test('that checks a mail for long gets it once, and under one name at every attempt', async () => {
    server.behave({ data: 451 })
    await createResetLink(platform, trace, operator, user.id)
    await deliver()
    passed += pauseAfterMail(1)
    server.behave({ checkingMs: 300 })
    const sending = deliver()
    while ((await mailsOf())[0]?.attempts !== 2) await Bun.sleep(5)
    const [row] = await mailsOf()
    expect(row?.nextAttemptAt).toBeGreaterThan(now() + mailTimeoutMs) // or two servers could send it at once
    const [mail] = await sending
    expect(mail?.head).toContain(`Message-ID: <${row?.id}@`)
  })

  test('that hangs does so for a limited time', async () => {
    const waiting: (() => void)[] = []
    const silent = await startMailServer({
      authOptional: true,
      onConnect: (_session, done) => void waiting.push(() => done()),
    })
    const slow = silent.mailer({}, { timeoutMs: 50 })
    await createResetLink(platform, trace, operator, user.id)
    await deliver(slow)
    expect(await mailsOf()).toMatchObject([{ state: 'pending', fault: 'timed_out' }])
    expect(slow.trouble()).toContain('did not answer in time')
    for (const done of waiting) done()
    await silent.down()
  })
})

describe('an announcement', () => {
  test('tells a sign-in in a new browser, and not one in a browser that is known or a program that signs in again', async () => {
    const from = { ...trace, address: '203.0.113.7' }
    const browser = { agent: 'Firefox on Linux', device: null }
    const first = await signIn(platform, from, user, browser)
    const [mail, ...more] = await deliverAll()
    expect(more).toEqual([])
    expect(mail?.to).toEqual([user.email])
    expect(mail?.text).toMatch(
      /from a new browser: \d{4}-\d\d-\d\d at \d\d:\d\d UTC, from 203\.0\.113\.7, with Firefox on Linux\./,
    )
    expect(mail?.text).toContain('http://localhost/account/sessions')
    await signIn(platform, from, user, { ...browser, device: first.newDevice })
    await signIn(platform, from, user, browser)
    expect(await deliverAll()).toEqual([])
    await signIn(platform, { ...trace, address: '203.0.113.8' }, user, browser)
    expect(await subjects()).toEqual([[user.email, 'New sign-in to App Platform']])
  })

  test('tells a new or rotated production secret to those who may make one, and none in development', async () => {
    const app = await addApp(platform, user)
    const [admin, developer] = [await addUser(platform), await addUser(platform)]
    await addMember(platform, trace, operator, { slug: app.slug, email: admin.email, role: 'admin' })
    await addMember(platform, trace, operator, { slug: app.slug, email: developer.email, role: 'developer' })
    await deliverAll()
    const production = { slug: app.slug, environment: 'production', label: null } as const
    await rotateCredential(platform, trace, operator, { clientId: app.production.clientId, graceHours: 1 })
    await rotateCredential(platform, trace, operator, { clientId: app.development.clientId, graceHours: 1 })
    const told = await deliverAll()
    expect(told.map(({ to }) => to).toSorted()).toEqual([[user.email], [admin.email]].toSorted())
    const rotated = told.find(({ to }) => to.includes(user.email))
    expect(rotated?.head).not.toContain(admin.email)
    expect(rotated?.head).toContain('Rotated production secret')
    expect(rotated?.text).toContain(`http://localhost/console/${app.slug}/credentials`)
    passed += 2 * hour
    const { clientSecret } = await createCredential(platform, trace, operator, production)
    const [made] = await deliverAll()
    expect(made?.head).toContain('New production secret')
    expect(made?.text).not.toContain(clientSecret)
  })

  test('tells owners of a rollback in production, and who did it', async () => {
    const app = await addApp(platform, user)
    const [owner, admin] = [await addUser(platform), await addUser(platform)]
    await addMember(platform, trace, operator, { slug: app.slug, email: owner.email, role: 'owner' })
    await addMember(platform, trace, operator, { slug: app.slug, email: admin.email, role: 'admin' })
    for (const version of ['1.0.0', '2.0.0'])
      await uploadVersion(platform, app, version, ['submit', 'approve', 'activate'])
    await deliverAll()
    const caller = await developmentCaller(platform, app)
    const roll = async (change: object = {}) =>
      await rollBackVersion(
        platform,
        trace,
        caller,
        { target: null, environment: 'production', reason: null, dryRun: false, ...change },
        null,
      )
    await roll({ dryRun: true })
    await roll({ environment: 'development' })
    expect(await deliverAll()).toEqual([])
    await roll()
    const all = await deliverAll()
    expect(all.map(({ to }) => to).toSorted()).toEqual([[user.email], [owner.email]].toSorted())
    const [told] = all
    expect(told?.text).toContain('was rolled back from 2.0.0 to 1.0.0')
    expect(told?.text).toContain(`by the development secret ${caller.credentialId}.`)
  })

  test('tells a changed password and an added or removed factor, and a changed address at the old one', async () => {
    await addTotp(platform, user)
    expect(await subjects()).toContainEqual([user.email, 'A second factor was added at App Platform'])
    await resetFactors(platform, trace, operator, user)
    expect(await subjects()).toEqual([[user.email, 'A second factor was removed at App Platform']])
    const caller = await sessionOf(platform, user)
    await deliverAll()
    await changePassword(platform, trace, caller, { current: user.password, next, repeated: next })
    expect(await subjects()).toEqual([[user.email, 'Your password at App Platform was changed']])
    const to = `moved-${user.email}`
    await setUserEmail(platform, trace, operator, { email: user.email, to })
    const [mail, ...more] = await deliverAll()
    expect(more).toEqual([])
    expect(mail?.to).toEqual([user.email])
    expect(mail?.text).not.toContain(to)
    expect((await mailsOf()).every(({ address }) => address === null)).toBe(true)
  })

  test('tells a used recovery code, new recovery codes, and an account at another service', async () => {
    const { codes } = await addTotp(platform, user)
    const browser = { agent: null, device: null }
    const pending = await startSignIn(platform, trace, user, browser)
    if (pending.kind !== 'pending') throw new Error('No second factor was asked for.')
    const proof = { kind: 'code', code: codes?.[0] ?? '' } as const
    const { sessionToken } = await finishSignIn(platform, trace, pending, proof, browser)
    const caller = await authenticateSession(platform, sessionToken)
    if (caller === null) throw new Error('There is no session.')
    expect(await subjects()).toContainEqual([user.email, 'A recovery code was used at App Platform'])
    await replaceRecoveryCodes(platform, trace, caller)
    expect(await subjects()).toEqual([[user.email, 'New recovery codes were created at App Platform']])
    const there = { email: user.email, issuer: 'https://id.example' }
    await linkIdentity(platform, trace, operator, { ...there, subject: user.email })
    expect(await subjects()).toEqual([[user.email, 'How you sign in to App Platform was changed']])
    await unlinkIdentity(platform, trace, operator, there)
    expect(await subjects()).toEqual([[user.email, 'How you sign in to App Platform was changed']])
  })

  test('tells every action about factors, passwords and links to the person; the others are named', async () => {
    const told = auditActions.filter((action) => {
      const kind = mailToldBy(action, 'production')
      return kind !== null && !isOperatorMail(kind) && !isNews(kind) // `news-mails.test.ts` has those
    })
    const appId = (await addApp(platform, user)).id
    await deliverAll()
    for (const action of told) {
      const recorded = { action, appId, environment: 'production', target: user.id } as const
      await decide(platform, trace, { actor: operator }, async ({ record }) => await record(recorded))
      const kind = mailToldBy(action, 'production')
      const mails = await deliverAll()
      if (kind !== 'invitation') expect(mails.map(({ to }) => to)).toEqual([[user.email]]) // they have a password
    }
    const silent = auditActions.filter((action) => /factor|password|link/.test(action) && !told.includes(action))
    expect(silent).toEqual(['factor.asked', 'user.change_password', 'user.reset_link_mailed', 'user.use_link'])
  })

  test('goes to the address that the person had then, also if it is sent later: a thief may change it next', async () => {
    await addTotp(platform, user)
    await deliverAll()
    await resetFactors(platform, trace, operator, user)
    await setUserEmail(platform, trace, operator, { email: user.email, to: `thief-${user.email}` })
    expect((await subjects()).map(([to]) => to)).toEqual([user.email, user.email])
  })
})

const moveTo = async (address: string, by = user) =>
  await askForEmail(platform, trace, await sessionOf(platform, by), address)
const confirm = async (link: string) => await useEmailLink(platform, trace, link)

test('no mail speaks of a password to somebody who signs in elsewhere', async () => {
  const elsewhere: Platform = {
    ...platform,
    signIn: { ...platform.signIn, ways: ['oidc'], passwordFor: 'operators', providerName: 'Example ID' },
  }
  const user = await q.users.byId((await addUser(platform)).id)
  if (user === null) throw new Error('no user')
  const own = { ...user, passwordHash: noPassword }
  const kinds = mailKinds.filter(
    (kind) =>
      !isNews(kind) && !isOperatorMail(kind) && kind !== 'app_invitation' && !/password|^reset|^invitation/.test(kind),
  ) as readonly Parameters<typeof letterOf>[2][]
  expect(kinds).toContain('new_device')
  for (const kind of kinds) {
    const { text } = writtenLetter(await letterOf(elsewhere, { q }, kind, own, null, ''))
    expect([kind, text]).toEqual([kind, expect.not.stringMatching(/password/i)])
  }
  const { text } = writtenLetter(await letterOf(elsewhere, { q }, 'new_device', own, null, ''))
  expect(text).toContain('secure your account at Example ID')
  const asBefore = writtenLetter(await letterOf(platform, { q }, 'new_device', user, null, ''))
  expect(asBefore.text).toContain('change your password')
})

describe('a change of the address', () => {
  test('is confirmed once, by a link at the new address, and told to the old one', async () => {
    const address = `new-${user.email}`
    await moveTo(address.toUpperCase())
    const mail = (await deliverAll()).find(({ to }) => to[0] === address)
    const link = linkIn(mail ?? { text: '' })
    expect(mail?.text).toContain(`http://localhost/confirm-email?link=${link}`)
    expect((await q.users.byId(user.id))?.email).toBe(user.email)
    expect(await isLive(link)).toBe(false) // it sets no password
    expect(await refusalOf(use(link))).toBe('version_not_eligible')
    const tries = await Promise.allSettled([confirm(link), confirm(link), confirm(link)])
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await q.users.byId(user.id))?.email).toBe(address)
    expect(await subjects()).toEqual([[user.email, 'Your email address at App Platform was changed']])
  })

  test('does not work with a link for a password, an older link, or when the password has changed since', async () => {
    await ask()
    const [reset] = await deliver()
    expect(await refusalOf(confirm(linkIn(reset ?? { text: '' })))).toBe('version_not_eligible')
    await moveTo(`one-${user.email}`)
    const [older] = await deliver()
    await moveTo(`two-${user.email}`)
    const [newer] = await deliver()
    expect(newer?.to).toEqual([`two-${user.email}`])
    expect(await refusalOf(confirm(linkIn(older ?? { text: '' })))).toBe('version_not_eligible')
    const caller = await sessionOf(platform, user)
    await changePassword(platform, trace, caller, { current: user.password, next, repeated: next })
    expect(await refusalOf(confirm(linkIn(newer ?? { text: '' })))).toBe('version_not_eligible')
    expect((await q.users.byId(user.id))?.email).toBe(user.email)
  })

  test('to the address of somebody else gets the same answer and no mail, and fails if they get it meanwhile', async () => {
    const other = await addUser(platform)
    expect(await moveTo(other.email)).toBeUndefined()
    expect(await deliver()).toEqual([])
    const address = `soon-${user.email}`
    await moveTo(address)
    const [mail] = await deliver()
    await setUserEmail(platform, trace, operator, { email: other.email, to: address })
    expect(await refusalOf(confirm(linkIn(mail ?? { text: '' })))).toBe('version_not_eligible')
  })

  test('is refused for a malformed address, the own one, and people whose address the builder sets', async () => {
    for (const address of ['x', user.email, `a@b.example\r\nBcc: c@d.example`]) {
      expect(await refusalOf(moveTo(address))).toBe('invalid_request')
    }
    await platform.database.transaction(async (t) => await t.users.change(user.id, { externalId: user.id }, now()))
    expect(await refusalOf(moveTo(`new-${user.email}`))).toBe('invalid_request')
  })
})

const offerRole = async (role: OfferedRole = 'developer', email = `guest-${user.email}`, on = platform) => {
  const { slug } = await addApp(platform, user)
  return { slug, email, made: await inviteMember(on, trace, operator, { slug, email, role, invitedBy: user.id }) }
}
const personAt = async (email: string): Promise<Login> => {
  const guest = await addUser(platform, 'Grace Example')
  await setUserEmail(platform, trace, operator, { email: guest.email, to: email })
  return { ...guest, email }
}
const secretIn = ({ link }: { readonly link: string }) => new URL(link).searchParams.get('link') ?? ''

describe('an invitation to an app', () => {
  test('is mailed with a link of its own, also to somebody without an account, and each link ends the other', async () => {
    for (const [role, says] of [
      ['developer', 'Ada Example (EMAIL) invites you to become a developer of the app Newsletter at App Platform.'],
      ['publisher', 'Ada Example (EMAIL) offers to transfer the app Newsletter at App Platform to you.'],
    ] as const) {
      for (const used of ['mailed', 'shown'] as const) {
        user = await addUser(platform)
        const { slug, email, made } = await offerRole(role)
        expect(made.isMailed).toBe(true)
        const [mail, ...more] = await deliver()
        expect(more).toEqual([])
        expect(mail?.to).toEqual([email])
        const links = { mailed: linkIn(mail ?? { text: '' }), shown: secretIn(made) }
        expect(links.mailed).not.toBe(links.shown)
        for (const form of [mail?.text, mail?.html]) {
          expect(form).toContain(says.replace('EMAIL', user.email))
          expect(form).toContain(`http://localhost/invitation?link=${links.mailed}`)
        }
        const rows = [await q.personal.rows('invitations', '', email), await auditEvents(platform)]
        expect(JSON.stringify(rows)).not.toContain(links.mailed)
        const guest = await personAt(email)
        const session = await sessionOf(platform, guest)
        await acceptInvitation(platform, trace, session, links[used])
        expect((await q.appMembers.access(guest.id, slug))?.role).toBe(role === 'publisher' ? 'owner' : 'developer')
        for (const link of Object.values(links)) {
          expect(await refusalOf(acceptInvitation(platform, trace, session, link))).toBe('version_not_eligible')
        }
      }
    }
  })

  test('is not mailed without a mail server, nor once it was revoked or who made it may invite no more', async () => {
    expect((await offerRole('admin', user.email.toUpperCase().replace('@', '+1@'), withoutMail)).made.isMailed).toBe(
      false,
    )
    const { slug, made } = await offerRole()
    await revokeInvitation(platform, trace, operator, { slug, id: made.id })
    await offerRole()
    await setUserStatus(platform, trace, operator, { email: user.email, status: 'disabled', apps: { kind: 'keep' } })
    expect(await deliver()).toEqual([])
    expect(await q.mails.nextDue(now() + day)).toBeNull()
  })

  test('is mailed again with a new link if the mail server fails', async () => {
    server.behave({ data: 451 })
    const { email, made } = await offerRole()
    expect(await deliver()).toEqual([])
    server.behave({})
    passed += pauseAfterMail(1)
    const [mail] = await deliver()
    const session = await sessionOf(platform, await personAt(email))
    const open = async (link: string) => (await openInvitation(platform, trace, session, link)).role
    expect(await open(linkIn(mail ?? { text: '' }))).toBe('developer')
    expect(await open(secretIn(made))).toBe('developer')
  })

  test('floods no mailbox: from the sixth in a day to an address on, there is only the link that is shown', async () => {
    const email = `flooded-${user.email}`
    const mailed: boolean[] = []
    for (let index = 0; index < 7; index += 1) mailed.push((await offerRole('developer', email)).made.isMailed)
    expect(mailed).toEqual([true, true, true, true, true, false, false])
    expect(await deliver()).toHaveLength(5)
    passed += day
    expect((await offerRole('developer', email)).made.isMailed).toBe(true)
  })
})

test('of several servers one sends each mail', async () => {
  for (let index = 0; index < 3; index += 1) {
    await invite(`many-${index}-${user.email}`)
  }
  const before = server.received.length
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (await sendNextMail(platform, trace, mailer));
    }),
  )
  const to = server.received.slice(before).map(({ to: [address] }) => address)
  expect(to).toHaveLength(3)
  expect(new Set(to).size).toBe(3)
})

const html = (says: string) => writtenLetter({ subject: '', paragraphs: [says], link: null, after: [] }).html

test('a name from right to left does not turn round what stands beside it', () => {
  expect(html('Hello علی رضایی (ali@example.com).')).toContain('<p>Hello <bdi>علی رضایی</bdi> (ali@example.com).</p>')
  expect(html('יוסי & Bob, שלום')).toContain('<p><bdi>יוסי</bdi> &amp; Bob, <bdi>שלום</bdi></p>')
  expect(html('Zoë <b>, 山田')).toContain('<p>Zoë &lt;b&gt;, 山田</p>')
})

test('names and addresses add no header, no recipient and no markup', async () => {
  const email = `o'neil+tag/{x}%${user.email}`
  const { id } = await createUser(platform, trace, operator, { email, name: 'Eve', password: next, isOperator: false })
  const name = 'Eve\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script>'
  await platform.database.transaction(async (t) => await t.users.change(id, { name }, now()))
  const hostile: Platform = { ...platform, platformName: 'Apps\r\nBcc: victim@example.com' }
  await createResetLink(platform, trace, operator, id)
  const before = server.received.length
  await sendNextMail(
    hostile,
    trace,
    server.mailer({ from: { name: 'A", <victim@example.com>\r\nBcc: b', address: 'apps@example.com' } }),
  )
  const [mail, ...more] = server.received.slice(before)
  expect(more).toEqual([])
  expect(mail?.to).toEqual([email])
  const names = (mail?.head ?? '').split('\r\n').flatMap((line) => /^([\w-]+):/.exec(line)?.[1] ?? [])
  expect(names.toSorted()).toEqual(
    ['Auto-Submitted', 'Content-Type', 'Date', 'From', 'MIME-Version', 'Message-ID', 'Subject', 'To'].toSorted(),
  )
  expect(mail?.html).toContain('&lt;script&gt;')
  expect(mail?.html).not.toContain('<script')
  expect(mail?.text).toContain('Hello Eve Bcc: victim@example.com')
})

test('the outbox forgets a mail after a week, a person at once, and the person can read what it has', async () => {
  await createResetLink(platform, trace, operator, user.id)
  await deliver()
  expect((await exportUser(platform, user)).mails).toMatchObject([{ kind: 'reset', state: 'sent' }])
  const other = await addUser(platform)
  await ask(other.email)
  await eraseUser(platform, trace, operator, { email: other.email })
  expect(await deliver()).toEqual([])
  passed += 6 * day
  const purge = async () =>
    await purgeAll(
      platform,
      trace,
      async () => undefined,
      () => false,
    )
  await purge()
  expect(await mailsOf()).toHaveLength(1)
  passed += 2 * day
  await purge()
  expect(await mailsOf()).toEqual([])
})
