import { expect, test } from 'bun:test'
import { refuse } from '../../src/domain/errors.ts'
import { hashSecret } from '../../src/domain/secret.ts'
import { isClient } from '../../src/operations/credentials/credentials.ts'
import { exchangeInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import { introspect } from '../../src/operations/oauth/introspect.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { revokeByClient } from '../../src/operations/oauth/revoke.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { signIn } from '../support/sign-in.ts'
import {
  authenticateAppToken,
  authenticateEmbeddedSession,
  authenticateSession,
  authenticateUserToken,
} from '../../src/operations/authenticate.ts'
import { findRefused, recordRefusal } from '../../src/operations/refused-token.ts'
import { findBySecret } from '../../src/operations/find-token.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { refusalOf, sessionOf } from '../operations/support/owner.ts'
import { addEmbeddedInstall, embedOrigin, openInstall } from '../support/embedding.ts'
import { type Either, forged, freshKey, type Which } from '../support/forged.ts'
import { trace } from '../support/operator.ts'
import { watchStore } from '../support/watched-store.ts'
import { addApp, addUser, authorizeBody, verifier } from '../support/world.ts'

/*
 * The time of a refusal must not reveal whether a key, a client or a user exists. What a clock says is for `bun run prove
 * timing`; here known and unknown ask the same of the store, find something as often, and write the same.
 */
const platform = await platformOfFile()
const user = await addUser(platform)
const app = await addApp(platform, user)

/** What is done until a call is refused, in no order. */
const workOf = async (call: (watched: Platform) => Promise<unknown>): Promise<readonly string[]> => {
  const seen: string[] = []
  const tell = (what: string) => void seen.push(what)
  const { passwords } = platform
  const matches = async (password: string, hash: string | null) => {
    tell('passwords.matches')
    return await passwords.matches(password, hash)
  }
  const database = watchStore(platform.database, tell)
  expect(await refusalOf(call({ ...platform, database, passwords: { ...passwords, matches } }))).not.toBe('done')
  return seen.toSorted()
}

/** The work of refusing either. */
const sameWork = async (call: (watched: Platform, which: Which) => Promise<unknown>): Promise<readonly string[]> => {
  const known = await workOf(async (watched) => await call(watched, 'known'))
  const unknown = await workOf(async (watched) => await call(watched, 'unknown'))
  expect(unknown).toEqual(known)
  return known
}

const unknownClient = (): string => `apc_dev_${freshKey()}`

test('a right secret costs one read; a wrong one finds one row, misses one and compares once, whether or not its key exists', async () => {
  const [secret, wrong] = [hashSecret('right'), hashSecret('wrong')]
  const seen: string[] = []
  const find = async (key: string) => {
    const isThere = key === 'known' || key === 'oldest'
    await Promise.resolve(seen.push(isThere ? 'found' : 'missed'))
    return isThere ? key : null
  }
  const oldestKey = async () => {
    await Promise.resolve(seen.push('oldest'))
    return 'oldest'
  }
  const hashOf = () => {
    seen.push('compared')
    return secret
  }
  const lookFor = async (key: string, hash: typeof secret) => {
    seen.length = 0
    return { found: await findBySecret({ key, hash }, find, oldestKey, hashOf), work: seen.toSorted() }
  }
  expect(await lookFor('known', secret)).toEqual({ found: 'known', work: ['compared', 'found'] })
  const work = ['compared', 'found', 'missed', 'oldest']
  expect(await lookFor('known', wrong)).toEqual({ found: null, work })
  expect(await lookFor('unknown', wrong)).toEqual({ found: null, work })
  expect(await lookFor('unknown', secret)).toEqual({ found: null, work })
  expect(await findBySecret<string, string>({ key: 'known', hash: secret }, () => null, oldestKey, hashOf)).toBeNull()
})

test('a wrong secret costs the same work for an existing client and an unknown one', async () => {
  const { clientId, clientSecret } = app.development
  const ids: Either = { known: clientId, unknown: unknownClient() }
  for (const secret of [forged('clientSecretDevelopment', clientSecret).known, 'malformed']) {
    const work = await sameWork(async (watched, which) => {
      await issueAppToken(watched, trace, { clientId: ids[which], clientSecret: secret, scope: null }).finally(
        async () => await isClient(watched, ids[which]),
      )
    })
    expect(work).toContain('audit.insert, in the indexes of apps')
  }
})

/** The app that the audit event of a refusal names. */
const appOfRefusal = async (clientId: string): Promise<string | null | undefined> => {
  await refusalOf(issueAppToken(platform, trace, { clientId, clientSecret: 'wrong', scope: null }))
  const [event] = await platform.database.queries.audit.list({ appId: null, since: 0, limit: 1 })
  return event?.appId
}

test('the audit event of a refused client names its app if there is one', async () => {
  expect(await appOfRefusal(app.development.clientId)).toBe(app.id)
  expect(await appOfRefusal(unknownClient())).toBeNull()
  expect(await appOfRefusal('malformed')).toBeNull()
})

test('a wrong client secret costs the same work under an existing key and any other', async () => {
  const { clientId, clientSecret } = app.development
  const secrets = forged('clientSecretDevelopment', clientSecret)
  const credentials = (which: Which) => ({ clientId, clientSecret: secrets[which] })
  await sameWork(async (watched, which) => {
    await issueAppToken(watched, trace, { ...credentials(which), scope: null })
  })
  await sameWork(async (watched, which) => await introspect(watched, trace, credentials(which), 'token'))
  await sameWork(async (watched, which) => {
    await revokeByClient(watched, trace, credentials(which), 'token')
  })
})

/** As a door refuses a bearer token. */
const sameRefusal = async (
  authenticate: (watched: Platform, text: string) => unknown,
  tokens: Either,
): Promise<void> => {
  await sameWork(async (watched, which) => {
    await authenticate(watched, tokens[which])
    await recordRefusal(watched, trace, await findRefused(watched, trace, tokens[which]), 'invalid_token')
    throw refuse('invalid_token')
  })
}

test('a wrong bearer token costs the same work under an existing key and any other', async () => {
  const session = await sessionOf(platform, user)
  const { sessionToken } = await signIn(platform, trace, user)
  const appToken = (await issueAppToken(platform, trace, { ...app.development, scope: null })).accessToken
  const { code } = await authorize(platform, trace, session, authorizeBody(app), true)
  const exchange = { ...app.development, code, redirectUri: app.redirectUri, codeVerifier: verifier }
  const { accessToken } = await exchangeCode(platform, trace, exchange, null)
  const installCode = await openInstall(platform, sessionToken, await addEmbeddedInstall(platform, app, user))
  const page = { clientId: app.production.clientId, code: installCode, origin: embedOrigin(app) }
  const embedded = (await exchangeInstallSessionCode(platform, trace, page)).sessionToken

  await sameRefusal(authenticateAppToken, forged('appToken', appToken))
  await sameRefusal(authenticateUserToken, forged('userAccessToken', accessToken))
  await sameRefusal(authenticateSession, forged('session', sessionToken))
  await sameRefusal(authenticateEmbeddedSession, forged('embeddedSession', embedded))
})

test('a wrong code or refresh token costs the same work under an existing key and any other', async () => {
  const session = await sessionOf(platform, user)
  const { code } = await authorize(platform, trace, session, authorizeBody(app), true)
  const exchange = { ...app.development, redirectUri: app.redirectUri, codeVerifier: verifier }
  const codes = forged('authorizationCode', code)
  await sameWork(
    async (watched, which) => await exchangeCode(watched, trace, { ...exchange, code: codes[which] }, null),
  )
  const { refreshToken } = await exchangeCode(platform, trace, { ...exchange, code }, null)
  const tokens = forged('refreshToken', refreshToken)
  await sameWork(async (watched, which) => {
    const request = { ...app.development, refreshToken: tokens[which], scope: null }
    return await refreshTokens(watched, trace, request, null)
  })
})

test('a wrong install-session code costs the same work under an existing key and any other, and for an unknown client', async () => {
  const other = await addApp(platform, user)
  const installId = await addEmbeddedInstall(platform, other, user)
  const { sessionToken } = await signIn(platform, trace, user)
  const codes = forged('installSessionCode', await openInstall(platform, sessionToken, installId))
  const { clientId } = other.production
  const origin = embedOrigin(other)
  await sameWork(
    async (watched, which) =>
      await exchangeInstallSessionCode(watched, trace, { clientId, code: codes[which], origin }),
  )
  const ids: Either = { known: clientId, unknown: unknownClient() }
  await sameWork(
    async (watched, which) =>
      await exchangeInstallSessionCode(watched, trace, { clientId: ids[which], code: codes.known, origin }),
  )
})

test('a wrong password is hashed whether or not the email address is known, and leaves one event', async () => {
  const emails: Either = { known: user.email, unknown: 'nobody@example.com' }
  for (const which of ['known', 'unknown'] as const) {
    const work = await workOf(
      async (watched) => await signIn(watched, trace, { email: emails[which], password: 'not the password' }),
    )
    expect(work.map((each) => each.replace(/ [+−]$/, ''))).toEqual([
      'audit.insert, of no app',
      'passwords.matches',
      'transaction', // the attempt
      'transaction', // the event of its refusal
      'users.byEmail',
      'users.byId',
    ])
  }
})
