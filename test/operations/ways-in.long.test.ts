// Every way to sign in, beside everything that ends sessions or suspends a person.

import { beforeEach, describe, expect, test } from 'bun:test'
import { recordId, rowKey } from '../../src/domain/identifier.ts'
import { signInRequest } from '../../src/domain/sign-in-rules.ts'
import { endUserAccess, endUserSessions } from '../../src/operations/end-access.ts'
import { resetFactors } from '../../src/operations/factors/change-factors.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import type { PendingSignIn } from '../../src/operations/sessions/entry.ts'
import { answerSignIn, completeSignIn } from '../../src/operations/sessions/handover.ts'
import { signInWithIdentity } from '../../src/operations/sessions/identity.ts'
import { endEverySession, endOtherSessions, endSession } from '../../src/operations/sessions/own-sessions.ts'
import { finishSignIn, signIn as signInWithPassword } from '../../src/operations/sessions/sign-in.ts'
import { endBuilderUserAccess, linkUser } from '../../src/operations/users/users.ts'
import {
  createResetLink,
  usePasswordLink,
  changePassword,
  confirmUser,
  resetPassword,
} from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { claimsOf } from '../support/claims.ts'
import { totpCode } from '../support/factors.ts'
import { operator, passwordOnly, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addUser, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const opened = await platformOfFile()
let passed = 0
const now = () => opened.clock.now() + passed
const platform: Platform = { ...opened, clock: { ...opened.clock, now } }
const { database } = platform
const key = { name: 'Builder', rights: ['users:write'], networks: [], expiresInDays: null } as const
const builder = { kind: 'service', id: (await createServiceKey(platform, trace, operator, key)).id } as const
const serverKey = new Uint8Array(32)
const browser = { agent: null, device: null }

let user: Login
beforeEach(async () => {
  user = await addUser(platform)
  await linkUser(platform, trace, operator, { email: user.email, externalId: user.id })
  await database.transaction(async (q) => {
    await q.identities.link({
      issuer: 'https://id.example',
      subject: user.id,
      userId: user.id,
      createdAt: now(),
    })
  })
})

/** Begins a sign-in, and gives what goes on with it. */
type Way = () => Promise<() => Promise<unknown>>

const ways: readonly (readonly [name: string, begin: Way])[] = [
  [
    'a password whose hash is being compared',
    async () => {
      const gate = Promise.withResolvers<undefined>()
      const matches: Platform['passwords']['matches'] = async (...given) => {
        await gate.promise
        return await platform.passwords.matches(...given)
      }
      const slow = { ...platform, passwords: { ...platform.passwords, matches } }
      const entering = signInWithPassword(slow, trace, user)
      entering.catch(() => undefined)
      return async () => {
        gate.resolve(undefined)
        return await entering
      }
    },
  ],
  [
    'an answer of the builder',
    async () => {
      const request = rowKey(platform.random.uuid(now()))
      const said = { request: signInRequest(serverKey, request), serverKey, externalId: user.id, wasAsked: true }
      const { redirectTo } = await answerSignIn(platform, trace, builder, said)
      const verifier = new URL(redirectTo).searchParams.get('verifier') ?? ''
      return async () => await completeSignIn(platform, trace, { key: request, verifier, agent: null })
    },
  ],
  [
    'a way to the identity provider',
    async () => {
      const begunAt = now()
      const claims = claimsOf({ subject: user.id, isEmailVerified: false })
      return async () => await signInWithIdentity(platform, trace, claims, passwordOnly, { agent: null, begunAt })
    },
  ],
  [
    'a password that waits for a second factor',
    async () => {
      const pending = {
        kind: 'pending',
        need: 'code',
        userId: user.id,
        email: user.email,
        way: 'oidc',
        proof: '',
      } as const
      const waiting: PendingSignIn = { ...pending, since: now() }
      return async () => {
        const id = recordId('fct_', platform.random.uuid(now()))
        const row = { id, userId: user.id, key: new Uint8Array(20), lastStep: 0, createdAt: now() }
        await database.transaction(async (q) => {
          await q.totpKeys.end(user.id, now())
          await q.totpKeys.insert({ ...row, lastUsedAt: null, endedAt: null })
        })
        const code = totpCode(row.key, now())
        return await finishSignIn(platform, trace, waiting, { kind: 'code', code }, browser)
      }
    },
  ],
]

const again = 'another four unrelated words'

const endings: readonly (readonly [name: string, end: () => Promise<unknown>])[] = [
  [
    'the person signs out elsewhere',
    async () => await endOtherSessions(platform, trace, await sessionOf(platform, user)),
  ],
  [
    'the person signs out everywhere',
    async () => await endEverySession(platform, trace, await sessionOf(platform, user)),
  ],
  [
    'the person ends one other session',
    async () => {
      const [own, other] = [await sessionOf(platform, user), await sessionOf(platform, user)]
      await endSession(platform, trace, own, other.sessionKey)
    },
  ],
  ['an operator signs them out', async () => await endUserSessions(platform, trace, operator, user)],
  ['an operator ends their access', async () => await endUserAccess(platform, trace, operator, user)],
  [
    'the builder ends their sessions',
    async () => await endBuilderUserAccess(platform, trace, builder, { externalId: user.id, only: 'sessions' }),
  ],
  ['an operator resets their factors', async () => await resetFactors(platform, trace, operator, user)],
  [
    'they are disabled and enabled',
    async () => {
      for (const status of ['disabled', 'active'] as const)
        await setUserStatus(platform, trace, operator, { email: user.email, status })
    },
  ],
]

/** These change the password, too. */
const renewals: typeof endings = [
  [
    'the person changes the password',
    async () => {
      const caller = await sessionOf(platform, user)
      await changePassword(platform, trace, caller, { current: user.password, next: again, repeated: again })
    },
  ],
  [
    'an operator resets the password',
    async () => await resetPassword(platform, trace, operator, { userId: user.id, password: again }),
  ],
  [
    'a link sets the password',
    async () => {
      const { link } = await createResetLink(platform, trace, operator, user.id)
      const secret = new URL(link).searchParams.get('link') ?? ''
      await usePasswordLink(platform, trace, { link: secret, password: again, repeated: again })
    },
  ],
]

describe.each([...endings, ...renewals])('when %s', (_, end) => {
  test.each(ways)('%s gives no session', async (__, begin) => {
    const goOn = await begin()
    passed += 5
    await end()
    user = { ...user, password: (await canSignIn(user)) ? user.password : again }
    expect(await refusalOf(goOn())).toBe('invalid_login')
  })

  test.each(ways)('%s afterwards does', async (__, begin) => {
    await end()
    user = { ...user, password: (await canSignIn(user)) ? user.password : again }
    passed += 5
    expect(await (await begin())()).toMatchObject({ kind: 'signed_in' })
  })
})

const canSignIn = async (login: Login) => (await refusalOf(signInWithPassword(platform, trace, login))) === 'done'

test.each(ways)(
  '%s gives no session to somebody whom a recovery has suspended, until an operator confirms them',
  async (_, begin) => {
    const id = recordId('usr_', platform.random.uuid(now()))
    await database.transaction(async (q) => {
      const row = await q.users.byId(user.id)
      if (row === null) throw new Error('There is no user.')
      await q.users.insert({ ...row, id, externalId: id, email: `of-${user.email}`, suspendedAt: 1 })
      await q.identities.link({
        issuer: 'https://id.example',
        subject: id,
        userId: id,
        createdAt: now(),
      })
    })
    user = { ...user, id, email: `of-${user.email}` }
    const goOn = await begin()
    expect(await refusalOf(goOn())).toBe('invalid_login')
    await confirmUser(platform, trace, operator, user)
    expect(await (await begin())()).toMatchObject({ kind: 'signed_in' })
  },
)
