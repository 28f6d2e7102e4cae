import { describe, expect, test } from 'bun:test'
import { linkUser, setOperator, setUserEmail } from '../../src/operations/users/users.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { PlatformError } from '../../src/domain/errors.ts'
import { inspectUser } from '../../src/operations/users/find-user.ts'
import { linkIdentity, unlinkIdentity } from '../../src/operations/users/identities.ts'
import type { Claims } from '../../src/runtime/identity-provider.ts'
import { signInWithIdentity } from '../../src/operations/sessions/identity.ts'
import { auditEvents } from '../support/audit-events.ts'
import { claimsOf } from '../support/claims.ts'
import { operator, trace } from '../support/operator.ts'
import { addUser } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const { platform } = await worldOfFile()
const issuer = 'https://id.example.com'
const browser = () => ({ agent: null, begunAt: platform.clock.now() })
const rules = { createsUsers: false, linksByEmail: false }

const link = async (email: string, subject: string, place = issuer) =>
  await linkIdentity(platform, trace, operator, { email, issuer: place, subject })
const unlink = async (email: string, place = issuer) =>
  await unlinkIdentity(platform, trace, operator, { email, issuer: place })
const subjectsOf = async (id: string) =>
  (await platform.database.queries.identities.ofUser(id)).map((each) => each.subject)
const signsIn = async (subject: string) =>
  await signInWithIdentity(platform, trace, claimsOf({ issuer, subject }), rules, browser()).then(
    (entry) => (entry.kind === 'signed_in' ? entry.user.id : null),
    (error: unknown) => (error instanceof Error ? error.message : null),
  )

test('a person who is linked signs in, without an address and whatever the rules for first sign-ins', async () => {
  const { id, email } = await addUser(platform)
  expect(await signsIn('first')).toContain('no account')
  await link(email.toUpperCase(), 'first')
  expect(await signsIn('first')).toBe(id)
})

test('a slash at the end of the issuer makes no difference, and linking again changes nothing', async () => {
  const { id, email } = await addUser(platform)
  await link(email, 'slash', `${issuer}/`)
  const before = await auditEvents(platform)
  expect(await link(email, 'slash')).toMatchObject({ issuer, replaced: 0 })
  expect(await auditEvents(platform)).toEqual(before)
  expect(await subjectsOf(id)).toEqual(['slash'])
})

test('an account has one person of a provider: another one replaces the first, who no longer signs in', async () => {
  const { id, email } = await addUser(platform)
  await link(email, 'early')
  await link(email, 'elsewhere', 'https://other.example.com')
  expect(await link(email, 'late')).toMatchObject({ replaced: 1 })
  expect((await subjectsOf(id)).toSorted()).toEqual(['elsewhere', 'late'])
  expect([await signsIn('early'), await signsIn('late')]).toEqual([expect.stringContaining('was unlinked'), id])
})

test('a person of the provider has one account: a second one is refused until the first is unlinked', async () => {
  const [one, other] = [await addUser(platform), await addUser(platform)]
  await link(one.email, 'moving')
  await expect(link(other.email, 'moving')).rejects.toMatchObject({ message: expect.stringContaining('user unlink') })
  await unlink(one.email, `${issuer}/`)
  await link(other.email, 'moving')
  expect(await signsIn('moving')).toBe(other.id)
  await expect(unlink(one.email)).rejects.toMatchObject({ message: expect.stringContaining('not linked') })
})

test('a person who was unlinked or replaced comes in by no address, to that account or a new one, until they are linked again', async () => {
  const [user, other] = [await addUser(platform), await addUser(platform)]
  const generous = { createsUsers: true, linksByEmail: true }
  const comes = async (subject: string, email: string) =>
    await signInWithIdentity(platform, trace, claimsOf({ issuer, subject, email }), generous, browser()).then(
      (entry) => (entry.kind === 'signed_in' ? entry.user.id : null),
      (error: unknown) => (error instanceof PlatformError ? error.facts.details?.['kind'] : error),
    )
  expect(await comes('wrong-person', user.email)).toBe(user.id)
  await unlink(user.email)
  for (const email of [user.email, other.email, newAddress()])
    expect(await comes('wrong-person', email)).toBe('unlinked')

  expect(await comes('right-person', user.email)).toBe(user.id)
  await link(user.email, 'replacement')
  expect(await comes('right-person', user.email)).toBe('unlinked')
  await link(other.email, 'right-person')
  expect(await comes('right-person', user.email)).toBe(other.id)
  expect([await subjectsOf(user.id), await subjectsOf(other.id)]).toEqual([['replacement'], ['right-person']])
})

test('each change leaves an event without the subject, which may tell who it is', async () => {
  const { id, email } = await addUser(platform)
  await link(email, 'telling-subject')
  await unlink(email)
  const events = (await auditEvents(platform)).filter(
    ({ target, actorKind }) => target === id && actorKind === 'operator',
  )
  expect(events.slice(-2).map(({ action }) => action)).toEqual(['user.linked', 'user.unlinked'])
  expect(JSON.stringify(events)).not.toContain('telling-subject')
})

test('an unknown address, and an issuer or a subject that is malformed, is refused', async () => {
  const { email } = await addUser(platform)
  await expect(link('nobody@example.com', 'a')).rejects.toMatchObject({ code: 'invalid_request' })
  for (const subject of ['', 'x'.repeat(256), 'Zoë', 'a\nb', 'a\0b', '\ud800', '\udc00']) {
    await expect(link(email, subject)).rejects.toMatchObject({ facts: { param: 'subject' } })
  }
  for (const place of [
    'id.example.com',
    'ftp://id.example.com',
    'https://a@id.example.com',
    'https://id.example.com/#x',
  ]) {
    await expect(link(email, 'a', place)).rejects.toMatchObject({ facts: { param: 'issuer' } })
  }
})

/** A user who is linked to the person of their own ID. */
const addLinked = async () => {
  const user = await addUser(platform)
  await link(user.email, user.id)
  return user
}
const comeAs = async ({ id }: { readonly id: string }, said: Partial<Claims>) =>
  await signInWithIdentity(platform, trace, claimsOf({ issuer, subject: id, ...said }), rules, browser())
const shownOf = async ({ id }: { readonly id: string }) => {
  const { email, name, addressHolders } = await inspectUser(platform, id)
  return { email, name, holders: addressHolders.map((holder) => holder.id) }
}
let addresses = 0
const newAddress = () => `zoe.moved-${(addresses += 1)}@id.example`

test('a sign-in brings a changed address and name, once, in the spelling of this server', async () => {
  const user = await addLinked()
  const email = newAddress()
  const entry = await comeAs(user, { email: email.toUpperCase(), name: '  Zoë\u00a0O’Hara-Nguyễn\u200e ' })
  const now = { email, name: 'Zoë O’Hara-Nguyễn', holders: [] }
  expect(await shownOf(user)).toEqual(now)
  expect(entry).toMatchObject({ user: { email, name: now.name } })
  await comeAs(user, { email, name: now.name })
  const events = (await auditEvents(platform)).filter(({ target }) => target === user.id)
  for (const action of ['user.email_changed', 'user.changed'] as const) {
    expect(events.filter((each) => each.action === action)).toMatchObject([{ actorKind: 'user', actorId: user.id }])
  }
})

test.each<readonly [title: string, said: Partial<Claims>]>([
  ['an address that is not verified', { email: newAddress(), isEmailVerified: false, name: 'Mallory' }],
  ['no address', { name: 'Mallory' }],
  ['a text that is no address', { email: 'mallory at home', name: 'Mallory' }],
])('an account follows nobody with %s', async (_, said) => {
  const user = await addLinked()
  const before = await shownOf(user)
  await comeAs(user, said)
  expect(await shownOf(user)).toEqual(before)
})

test.each(['', ' \u200b\u2800 '])(
  'without a name that can be shown (%j), the name stays and the address follows',
  async (name) => {
    const user = await addLinked()
    const before = await shownOf(user)
    const email = newAddress()
    await comeAs(user, { email, name })
    expect(await shownOf(user)).toEqual({ ...before, email })
  },
)

test('operators and people whom the builder keeps follow no identity provider', async () => {
  const [chief, kept] = [await addLinked(), await addLinked()]
  await setOperator(platform, trace, operator, { userId: chief.id, isOperator: true })
  await linkUser(platform, trace, operator, { email: kept.email, externalId: kept.id })
  for (const user of [chief, kept]) {
    const before = await shownOf(user)
    await comeAs(user, { email: newAddress(), name: 'Somebody Else' })
    expect(await shownOf(user)).toEqual(before)
  }
})

const contested = async () => {
  const [user, holder] = [await addLinked(), await addUser(platform)]
  const before = await shownOf(user)
  const said = { email: holder.email, name: 'New Name' }
  await comeAs(user, said)
  expect(await shownOf(user)).toEqual({ ...before, holders: [holder.id] })
  expect((await shownOf(holder)).email).toBe(holder.email)
  return { user, holder, said, before }
}
describe('an address that somebody else has here', () => {
  test('joins nobody, and is told to operators until it is free', async () => {
    const { user, holder, said, before } = await contested()
    await comeAs(user, said)
    expect(await shownOf(user)).toEqual({ ...before, holders: [holder.id] })
    await setUserEmail(platform, trace, operator, { email: holder.email, to: newAddress() })
    expect(await shownOf(user)).toEqual(before)
    await comeAs(user, said)
    expect(await shownOf(user)).toEqual({ ...said, holders: [] })
  })

  test('is told no more once the provider says another one', async () => {
    const { user, before } = await contested()
    await comeAs(user, { email: before.email })
    expect(await shownOf(user)).toEqual(before)
  })

  test('is free when its holder is erased', async () => {
    const { user, holder, said, before } = await contested()
    await eraseUser(platform, trace, operator, { email: holder.email })
    expect(await shownOf(user)).toEqual(before)
    await comeAs(user, said)
    expect(await shownOf(user)).toEqual({ ...said, holders: [] })
  })

  test('is told no more once the person is unlinked, or an operator', async () => {
    const [one, other] = [await contested(), await contested()]
    await unlink(one.user.email)
    expect(await shownOf(one.user)).toEqual(one.before)
    await setOperator(platform, trace, operator, { userId: other.user.id, isOperator: true })
    await comeAs(other.user, other.said)
    expect(await shownOf(other.user)).toEqual(other.before)
  })
})
