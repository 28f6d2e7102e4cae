// Whatever ends a person's access or an app, beside whatever signs in and whatever issues.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { PlatformError } from '../../../src/domain/errors.ts'
import { recordId, rowKey } from '../../../src/domain/identifier.ts'
import { challengeOf } from '../../../src/domain/pkce.ts'
import { signInRequest } from '../../../src/domain/sign-in-rules.ts'
import { actingAs, actingWithKey } from '../../../src/operations/acting-as.ts'
import { deleteApp } from '../../../src/operations/apps/apps.ts'
import { addMember, removeMember } from '../../../src/operations/apps/members.ts'
import * as bearer from '../../../src/operations/authenticate.ts'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../../src/operations/embedding/embedding.ts'
import { endUserAccess } from '../../../src/operations/end-access.ts'
import { resetFactors } from '../../../src/operations/factors/change-factors.ts'
import { authorize, decideConsent } from '../../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../../src/operations/oauth/continue-grant.ts'
import { issueAppToken } from '../../../src/operations/oauth/issue-app-token.ts'
import { putBuilderResource } from '../../../src/operations/resources/resources.ts'
import { importResources } from '../../../src/operations/resources/import-resources.ts'
import { createServiceKey } from '../../../src/operations/service-keys/change-service-keys.ts'
import type { Entry } from '../../../src/operations/sessions/entry.ts'
import { answerSignIn, completeSignIn } from '../../../src/operations/sessions/handover.ts'
import { signInWithIdentity } from '../../../src/operations/sessions/identity.ts'
import { endOtherSessions } from '../../../src/operations/sessions/own-sessions.ts'
import { signIn } from '../../../src/operations/sessions/sign-in.ts'
import { linkUser, putBuilderUser } from '../../../src/operations/users/users.ts'
import { eraseUser } from '../../../src/operations/users/personal-data.ts'
import { createResetLink, openPasswordLink, usePasswordLink } from '../../../src/operations/users/passwords.ts'
import { sessionOf, unspentTicket } from '../../operations/support/owner.ts'
import { askPostgres } from '../../support/beside.ts'
import { addEmbeddedVersion, embedOrigin, installEmbedded } from '../../support/embedding.ts'
import { openAsOperator, operator, passwordOnly, trace } from '../../support/operator.ts'
import { databaseOf, onPostgres } from '../../support/postgres.ts'
import { isLong, patience, percentile, seed, seeded } from '../../support/proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login, userScopes, verifier } from '../../support/world.ts'
import { race } from './support.ts'

const file = join(temporaryFolder(), 'app-platform.db')
const platform = await openAsOperator(file)
const key = { name: 'Builder', rights: ['users:write', 'resources:write'], networks: [], expiresInDays: null } as const
const { id: keyId } = await createServiceKey(platform, trace, operator, key)
const builder = { kind: 'service', id: keyId } as const
const withKey = () => actingWithKey(platform, trace, { ...builder, rights: [...key.rights] })
const random = seeded(seed)

/** A person who uses and develops an app. */
type Subject = {
  readonly user: Login
  readonly app: AppInWorld
  /** An install of what is being developed. */
  readonly install: string
  readonly session: bearer.SessionCaller
  /** The one that ends the others. */
  readonly kept: bearer.SessionCaller
}

const newApp = async (): Promise<AppInWorld> => {
  const app = await addApp(platform, await addUser(platform))
  await addEmbeddedVersion(platform, app)
  return app
}

const newSubject = async (app: AppInWorld): Promise<Subject> => {
  const user = await addUser(platform)
  await linkUser(platform, trace, operator, { email: user.email, externalId: user.id })
  const identity = {
    issuer: 'https://id.example',
    subject: user.id,
    userId: user.id,
    createdAt: platform.clock.now(),
  }
  await platform.database.transaction((q) => q.identities.link(identity))
  await addMember(platform, trace, operator, { slug: app.slug, email: user.email, role: 'developer' })
  const install = await installEmbedded(platform, app, user, { environment: 'development' })
  return { user, app, install, session: await sessionOf(platform, user), kept: await sessionOf(platform, user) }
}

/** What somebody got, and whether it works. */
type Fruit = {
  readonly of: 'session' | 'grant' | 'app token' | 'page' | 'link' | 'website'
  readonly works: () => Promise<boolean>
}
/** Prepares one call, which begins when the result is called. */
type Way = (subject: Subject) => Promise<() => Promise<Fruit>>

const isDone = async (call: Promise<unknown>): Promise<boolean> =>
  await call.then(
    () => true,
    (error: unknown) => {
      if (error instanceof PlatformError && error.code !== 'unavailable') return false
      throw error
    },
  )

const sessionIn = (entry: Entry | { readonly kind: 'rejected' }): Fruit => {
  if (entry.kind !== 'signed_in') throw new Error(`There is no session: ${entry.kind}`)
  const { sessionToken } = entry
  return { of: 'session', works: async () => (await bearer.authenticateSession(platform, sessionToken)) !== null }
}
const tokenIn = ({ accessToken }: { readonly accessToken: string }): Fruit => ({
  of: 'grant',
  works: async () => (await bearer.authenticateUserToken(platform, accessToken)) !== null,
})

const requestOf = ({ app }: Subject) => ({
  clientId: app.development.clientId,
  redirectUri: app.redirectUri,
  scope: userScopes,
  state: 'af0ifjsldkj',
  codeChallenge: challengeOf(verifier),
  codeChallengeMethod: 'S256',
})
const exchange = async ({ app }: Subject, code: string) => {
  const { redirectUri, development } = app
  return await exchangeCode(platform, trace, { ...development, code, redirectUri, codeVerifier: verifier }, null)
}
const freshCode = async (subject: Subject): Promise<string> =>
  (await authorize(platform, trace, subject.session, requestOf(subject), true)).code
const codeIn = (subject: Subject, code: string): Fruit => ({
  of: 'grant',
  works: async () => await isDone(exchange(subject, code)),
})

const openPage = async ({ session, install }: Subject): Promise<string> =>
  (await issueInstallSessionCode(actingAs(platform, trace, session), trace, session, install)).code
const loadPage = async ({ app }: Subject, code: string) => {
  const asked = { clientId: app.development.clientId, code, origin: embedOrigin(app) }
  return await exchangeInstallSessionCode(platform, trace, asked)
}

const siteOf = ({ user }: Subject, name: string) => ({
  kind: 'site' as const,
  externalId: name,
  ownerExternalId: user.id,
  name: 'A site',
  slug: name,
  status: 'published' as const,
})

const hasWebsites = async ({ user }: Subject): Promise<boolean> =>
  (await platform.database.queries.resources.ofOwner(user.id)).length > 0

const ways: Readonly<Record<string, Way>> = {
  'a password':
    async ({ user }) =>
    async () =>
      sessionIn(await signIn(platform, trace, user)),
  'an answer of the builder': async ({ user }) => {
    const request = rowKey(platform.random.uuid(platform.clock.now()))
    const serverKey = new Uint8Array(32)
    const said = { request: signInRequest(serverKey, request), serverKey, externalId: user.id, wasAsked: true }
    const { redirectTo } = await answerSignIn(withKey(), trace, builder, said)
    const secret = new URL(redirectTo).searchParams.get('verifier') ?? ''
    return async () => sessionIn(await completeSignIn(platform, trace, { key: request, verifier: secret, agent: null }))
  },
  'an identity provider': async ({ user }) => {
    const person = { issuer: 'https://id.example', subject: user.id, email: null, isEmailVerified: false }
    const claims = { ...person, name: null, acr: null, askedAt: null, issuedAt: platform.clock.now(), missed: null }
    const browser = { agent: null, begunAt: platform.clock.now() }
    return async () => sessionIn(await signInWithIdentity(platform, trace, claims, passwordOnly, browser))
  },
  authorization: async (subject) => async () => codeIn(subject, await freshCode(subject)),
  consent: async (subject) => {
    const ticket = unspentTicket(platform)
    return async () => {
      const decided = { request: requestOf(subject), answer: 'allow', ticket } as const
      const { issued } = await decideConsent(platform, trace, subject.session, decided)
      return codeIn(subject, issued?.code ?? '')
    }
  },
  'the exchange of a code': async (subject) => {
    const code = await freshCode(subject)
    return async () => tokenIn(await exchange(subject, code))
  },
  'a refresh': async (subject) => {
    const { refreshToken } = await exchange(subject, await freshCode(subject))
    const asked = { ...subject.app.development, refreshToken, scope: null }
    return async () => tokenIn(await refreshTokens(platform, trace, asked, null))
  },
  'the issue of an app token':
    async ({ app }) =>
    async () => {
      const { accessToken } = await issueAppToken(platform, trace, { ...app.development, scope: null })
      const works = async () => (await bearer.authenticateAppToken(platform, accessToken)) !== null
      return { of: 'app token', works }
    },
  'the opening of an app in a frame': async (subject) => async () => {
    const code = await openPage(subject)
    return { of: 'page', works: async () => await isDone(loadPage(subject, code)) }
  },
  'the page in a frame': async (subject) => {
    const code = await openPage(subject)
    return async () => {
      const { sessionToken } = await loadPage(subject, code)
      const works = async () => (await bearer.authenticateEmbeddedSession(platform, sessionToken)).caller !== null
      return { of: 'page', works }
    }
  },
}

/** These change something for other calls of the same person, so there is one of them. */
const singleWays: typeof ways = {
  'a link to set a password': async ({ user }) => {
    const { link } = await createResetLink(platform, trace, operator, user.id)
    const secret = new URL(link).searchParams.get('link') ?? ''
    const chosen = { link: secret, password: 'another four unrelated words', repeated: 'another four unrelated words' }
    return async () => {
      await usePasswordLink(platform, trace, chosen)
      return { of: 'link', works: async () => await isDone(openPasswordLink(platform, trace, secret)) }
    }
  },
  'an import of websites': async (subject) => {
    const [known, fresh] = [0, 1].map(() => recordId('res_', platform.random.uuid(platform.clock.now())).slice(4))
    const put = { ...siteOf(subject, known ?? ''), createdAt: null, updatedAt: null }
    await putBuilderResource(withKey(), trace, builder, put)
    const lines = [{ ...siteOf(subject, known ?? ''), name: 'Renamed' }, siteOf(subject, fresh ?? '')]
    const chunks = async function* () {
      yield new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join('\n'))
    }
    const order = { chunks: chunks(), progress: () => undefined, isOfBuilder: true, prunes: false }
    return async () => {
      await importResources(withKey(), trace, builder, order)
      return { of: 'website', works: async () => await hasWebsites(subject) }
    }
  },
}

type Ending = {
  readonly end: (subject: Subject) => Promise<unknown>
  /** What does not work once it has answered. */
  readonly ends: readonly Fruit['of'][]
  /** A way that would end the session that ends the others. */
  readonly notBeside?: string
}
const ofPerson = ['session', 'grant', 'page', 'link'] as const

const endings: Readonly<Record<string, Ending>> = {
  'the builder disables the person': {
    end: async ({ user }) => {
      const stated = {
        externalId: user.id,
        email: user.email,
        name: 'Ada',
        pictureUrl: null,
        status: 'disabled',
      } as const
      await putBuilderUser(withKey(), trace, builder, stated)
    },
    ends: ofPerson,
  },
  'the person is erased': {
    end: async ({ user }) => await eraseUser(withKey(), trace, builder, { externalId: user.id }),
    ends: [...ofPerson, 'website'],
  },
  'an operator ends the access of the person': {
    end: async ({ user }) => await endUserAccess(platform, trace, operator, user),
    ends: ofPerson,
  },
  'an operator resets their second factors': {
    end: async ({ user }) => await resetFactors(platform, trace, operator, user),
    ends: ['session', 'page', 'link'],
  },
  'the person signs out elsewhere': {
    end: async ({ kept }) => await endOtherSessions(actingAs(platform, trace, kept), trace, kept),
    ends: ['session', 'page', 'link'],
    notBeside: 'a link to set a password',
  },
  'they are removed as a member of the app': {
    end: async ({ app, user }) => await removeMember(platform, trace, operator, { slug: app.slug, userId: user.id }),
    ends: ['page'],
  },
  'the app is deleted': {
    end: async ({ app }) => await deleteApp(platform, trace, operator, app.slug),
    ends: ['grant', 'app token', 'page'],
  },
}

/** Calls of one way that race where it races alone. */
const alone = 12
/** An app has room for so many members. */
const roundsOfApp = 50

/** Every way twice; or one way often; or those that change something for the others. */
const chosenWays = (round: number): readonly (readonly [string, Way])[] => {
  const all = [...Object.entries(ways), ...Object.entries(ways)]
  if (round % 3 === 0) return all
  if (round % 3 === 1) return [...all, ...Object.entries(singleWays)]
  const one = Object.entries(ways)[Math.floor(round / 3) % Object.keys(ways).length]
  return one === undefined ? [] : Array.from({ length: alone }, () => one)
}

let app: AppInWorld | null = null

for (const [name, { end, ends, notBeside }] of Object.entries(endings)) {
  const times: number[] = []
  const got = new Map<string, number>()
  race(
    `once ${name}, nothing works that was on its way, and nobody is told to come back later`,
    async (round) => {
      if (app === null || name === 'the app is deleted' || round % roundsOfApp === 0) app = await newApp()
      const subject = await newSubject(app)
      const prepared = []
      const chosen = chosenWays(round).filter(([way]) => way !== notBeside)
      for (const [way, prepare] of chosen) prepared.push({ way, call: await prepare(subject) })
      const calls = prepared.map(async ({ way, call }) => {
        try {
          return { way, fruit: await call(), fault: null }
        } catch (error) {
          const isRefusal = error instanceof PlatformError && error.code !== 'unavailable'
          return { way, fruit: null, fault: isRefusal ? null : String(error) }
        }
      })
      await Bun.sleep(1 + random(6)) // the ending is later than the beginning of each
      const began = performance.now()
      await end(subject)
      times.push(performance.now() - began)
      const outcomes = await Promise.all(calls)

      expect(outcomes.flatMap(({ way, fault }) => (fault === null ? [] : `${way}: ${fault}`))).toEqual([])
      for (const { way, fruit } of outcomes) {
        if (fruit === null || !ends.includes(fruit.of)) continue
        got.set(way, (got.get(way) ?? 0) + 1)
        if (await fruit.works()) throw new Error(`${way} gave a ${fruit.of} that works although ${name}`)
      }
    },
    3,
  )
  if (!isLong) continue
  test(`times: once ${name}`, () => {
    const [median, slowest] = [percentile(times, 0.5), percentile(times, 1)]
    const counts = [...got].map(([way, count]) => `${way} ${count}`).join(', ')
    console.log(
      `  ${name}: ${times.length} rounds, median ${median} ms, slowest ${slowest} ms; got and ended: ${counts}`,
    )
  })
}

test(
  'no two of these transactions wait for each other',
  async () => {
    await platform.database.close()
    if (!onPostgres) return
    const url = await databaseOf(file)
    const ask = async (text: string) => await askPostgres<{ count: number }>(url, text, [])
    // A connection tells its figures when it ends.
    const others =
      'SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
    while (Number((await ask(others))[0]?.count) > 0) await Bun.sleep(50)
    const [found] = await ask('SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()')
    expect(Number(found?.count)).toBe(0)
  },
  patience,
)
