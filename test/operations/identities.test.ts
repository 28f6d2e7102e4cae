import { expect, test } from 'bun:test'
import { linkIdentity, unlinkIdentity } from '../../src/operations/users/identities.ts'
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
  expect([await signsIn('early'), await signsIn('late')]).toEqual([expect.stringContaining('no account'), id])
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
