import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'bun:test'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { signInWithIdentity } from '../../src/operations/sessions/identity.ts'
import { linkUser, createUser, newUser } from '../../src/operations/users/users.ts'
import { normalizeEmail } from '../../src/domain/user.ts'
import { hashSecret } from '../../src/domain/secret.ts'
import { serviceRights } from '../../src/domain/service-key.ts'
import { auditEvents } from '../support/audit-events.ts'
import { claimsOf } from '../support/claims.ts'
import { onSqlite } from '../support/engines.ts'
import { operator, trace } from '../support/operator.ts'
import { uploadVersion } from '../support/version.ts'
import { authorize, exchange, signIn } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { eventually } from '../support/crash.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

const world = await worldOfFile()
const { platform, app, server } = world
const { url } = server
await uploadVersion(platform, app, { version: '1.0.0' })
const input = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
const { secret } = await createServiceKey(platform, trace, operator, input)
const ask = async (method: string, path: string, body?: object) =>
  await send(url, method, `~/api/management${path}`, {
    token: secret,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/** Nobody else has these words. */
const [mail, name, picture, place, subject, browser] = [
  'quetzalcoatl',
  'huitzilopochtli',
  'xochipilli',
  'tlaloc',
  'tezcatlipoca',
  'mictlantecuhtli',
] as const

/** A person with something personal in every column that can have it, and with sessions, grants and websites. */
const addPerson = async (externalId: string) => {
  const password = 'correct horse battery'
  const email = `${mail}-${externalId}@example.com`
  const { id } = await createUser(platform, trace, operator, { email, name: `${name} X`, password, isOperator: false })
  await linkUser(platform, trace, operator, { email, externalId })
  await ask('PUT', `/users/${externalId}`, {
    email,
    name: `${name} ${externalId}`,
    pictureUrl: `https://example.com/${picture}-${externalId}.png`,
  })
  const claims = claimsOf({ subject: `${subject}-${externalId}`, email, name })
  const rules = { createsUsers: false, linksByEmail: true }
  await signInWithIdentity(platform, trace, claims, rules, {
    agent: `${browser}-${externalId}`,
    begunAt: platform.clock.now(),
  })
  const site = {
    ownerExternalId: externalId,
    name: `${place} of ${externalId}`,
    slug: `${place}-${externalId}`,
    status: 'published',
  }
  await ask('PUT', `/resources/site/${place}-${externalId}`, site)
  const session = await signIn(url, { id, email, password })
  const far = platform.clock.now() + 24 * 3_600_000
  const ever = { createdAt: 1, endedAt: null }
  await send(url, 'POST', '~/api/session', { body: JSON.stringify({ email, password }) })
  const { body: tokens } = await exchange(url, app, await authorize(url, session, app))
  // After the sign-ins, which would ask for the passkey.
  await platform.database.transaction(async (q) => {
    const passkey = {
      credentialId: externalId,
      publicKey: new Uint8Array(1),
      counter: 0,
      challengeAt: 1,
      lastUsedAt: null,
    }
    await q.passkeys.insert({
      id: `psk_${externalId}`,
      userId: id,
      name: `${browser}-${externalId}`,
      ...passkey,
      ...ever,
    })
    const hashes = { hash: hashSecret(externalId), mailedHash: hashSecret(`mailed ${externalId}`) }
    const invitation = { appId: app.id, ...hashes, invitedBy: world.user.id, expiresAt: far }
    await q.appInvitations.insert({ id: `inv_${externalId}`, email, role: 'developer', ...invitation, ...ever })
    const link = { userId: id, email, hash: hashSecret(email), expiresAt: far }
    await q.passwordLinks.insert({ id: `lnk_${externalId}`, ...link, ...ever })
    const waiting = { state: 'pending', attempts: 0, nextAttemptAt: far, fault: null, createdAt: 1 } as const
    const versionId = (await q.versions.byName(app.id, '1.0.0'))?.id ?? ''
    const message = { appId: app.id, versionId, authorId: id, side: 'members', createdAt: 1 } as const
    await q.reviewMessages.insert({ id: `msg_${externalId}`, ...message, text: `${name} ${externalId} answers.` })
    await q.mails.insert({ id: `mail_${externalId}`, kind: 'reset', userId: null, address: email, ...waiting })
  })
  return { id, email, session, tokens }
}

describe('the export of a person', () => {
  test('has what is stored about them, and no secret or hash', async () => {
    const { id, email } = await addPerson('exported')
    const { status, body, text } = await ask('GET', '/users/exported/export')
    expect(status).toBe(200)
    expect(body.user).toMatchObject({ id, email, name: `${name} exported`, externalId: 'exported' })
    expect(body.user.pictureUrl).toContain(picture)
    expect(body.sessions).toHaveLength(3)
    for (const word of [mail, name, picture, place, subject, browser])
      expect(text).toContain(`${word}-exported`.replace(`${name}-`, `${name} `))
    expect(body.grants).toHaveLength(1)
    expect(body.reviewMessages).toMatchObject([{ text: `${name} exported answers.` }])
    expect(body.resources).toMatchObject([{ name: `${place} of exported`, slug: `${place}-exported` }])
    expect(body.audit.map(({ action }: { action: string }) => action)).toContain('user.created')
    expect(text).not.toMatch(/\$2b\$|ap(?:us|ua|ur)_[0-9A-Za-z]{20}/)
  })
})

describe('the erasure of a person', () => {
  test('ends what they had, and leaves an ID without a person', async () => {
    const { id, email, session, tokens } = await addPerson('erased')
    const erased = await ask('DELETE', '/users/erased')
    expect(erased.body).toEqual({ id, resources: 1, installs: 0 })
    expect((await send(url, 'GET', '~/api/session', { token: session })).status).toBe(401)
    expect((await send(url, 'GET', '/oauth/me', { token: tokens.accessToken })).status).toBe(401)
    expectRefusal(await ask('GET', '/users/erased'), 'record_not_found')
    expectRefusal(await ask('DELETE', '/users/erased'), 'record_not_found')
    const user = await platform.database.queries.users.byId(id)
    expect(user).toMatchObject({ name: 'Erased user', status: 'disabled', pictureUrl: null, passwordHash: '' })
    expect((await ask('PUT', '/users/again', { email, name: 'Somebody Else' })).status).toBe(201)
  })

  test('works whatever address somebody else has, and leaves no address', async () => {
    const { id } = await addPerson('placeholder')
    for (const [externalId, email] of [
      ['squatter', `${id}@erased.invalid`],
      ['another', id],
    ] as const) {
      const taken = await ask('PUT', `/users/${externalId}`, { email, name: 'Somebody Else' })
      expect([externalId, taken.status]).toEqual([externalId, email.includes('@') ? 201 : 400])
    }
    expect((await ask('DELETE', '/users/placeholder')).status).toBe(200)
    const { email } = (await platform.database.queries.users.byId(id)) ?? {}
    expect(normalizeEmail(email ?? '@')).toBeNull()
  })

  test('waits until their apps are transferred or deleted', async () => {
    await linkUser(platform, trace, operator, { email: world.user.email, externalId: 'developer' })
    expectRefusal(await ask('DELETE', '/users/developer'), 'owns_apps')
    expect((await ask('GET', '/users/developer')).body.status).toBe('active')
  })

  onSqlite('restore of a file')('leaves none of their words in any column of any table', async () => {
    const { id } = await addPerson('searched')
    const own = [mail, name, picture, place, subject, browser].flatMap((word) => [
      `${word}-searched`,
      `${word} searched`,
    ])
    expect([...placesOf([...own, `${place} of searched`])].toSorted()).toEqual(personal.toSorted())
    await ask('DELETE', '/users/searched')
    expect([...placesOf(own)]).toEqual([])
    expect([...placesOf([id])]).toContain('users.id')
  })

  onSqlite('restore of a file')(
    'leaves none of their words in the file, its free pages and its WAL a few seconds later, while the server runs',
    async () => {
      const others = Array.from({ length: 40 }, (_, index) => `${mail}-many${index}@example.com`)
      const waiting = {
        kind: 'reset',
        userId: null,
        state: 'pending',
        attempts: 0,
        nextAttemptAt: 1,
        fault: null,
      } as const
      await addPerson('wiped')
      await platform.database.transaction(async (q) => {
        for (const [index, address] of others.entries()) {
          const facts = { externalId: null, name: 'Many', pictureUrl: null, status: 'active' } as const
          await q.users.insert(newUser({ id: `usr_many${index}`, email: address, ...facts }, 1))
          await q.mails.insert({ id: `mail_many${index}`, ...waiting, address, createdAt: 1 })
        }
      })
      const files = [server.database, `${server.database}-wal`]
      const bytes = () => files.map((path) => readFileSync(path).toString('latin1')).join('')
      const words = [`${mail}-wiped`, `${name} wiped`, `${picture}-wiped`, `${subject}-wiped`, `${browser}-wiped`]
      for (const word of [...words, others[7] ?? '']) expect(bytes()).toContain(word)
      await ask('DELETE', '/users/wiped')
      await platform.database.transaction(async (q) => {
        for (const index of others.keys()) await q.personal.erase(`usr_many${index}`, 1)
      })
      const left = () => {
        const found = bytes()
        return [...words, ...others].filter((word) => found.includes(word))
      }
      expect(await eventually(left, (found) => found.length === 0)).toEqual([])
    },
  )

  onSqlite('restore of a file')('knows every column that can hold a text', () => {
    using file = new Database(server.database, { readonly: true })
    const columns = file
      .query<{ place: string }, []>(
        `SELECT s.name || '.' || c.name AS place FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
        WHERE s.type = 'table' AND c.type IN ('TEXT', 'BLOB')`,
      )
      .all()
      .map(({ place: column }) => column)
    const texts = columns.filter((column) => theirs.test(column) || !technical.test(column))
    const unknown = texts.filter((column) => !impersonal.has(column))
    expect(unknown.toSorted(), 'Add a new column to one of the four lists below this test.').toEqual(
      [...personal, ...emptied].toSorted(),
    )
  })
})

/** Where the words of a person are as long as they are a user. */
const personal = [
  'app_invitations.email',
  'identities.subject',
  'mails.address',
  'passkeys.name',
  'password_links.email',
  'resources.external_id',
  'resources.name',
  'resources.slug',
  'review_messages.text',
  'sessions.agent',
  'users.email',
  'users.name',
  'users.picture_url',
]
/** Personal, too, and gone with the erasure or with what it ends. */
const emptied = [
  'users.external_id', // a number as likely as a word
  'users.password_hash',
  'sessions.address',
  'identities.issuer',
  'sign_in_requests.reason', // for ten minutes
  'install_session_codes.spent_from', // an address, for twelve hours
]
/** IDs, hashes, names of states and the like. */
const technical =
  /\.(?:.*_)?(?:id|key|hash|sha256|uuid|salt|fingerprint|secret|status|state|kind|kinds|environment|scopes|approval|action|outcome|origin|rights|networks|target|principal|method|path|challenge|by|hint|data)$/
const theirs = /\.(?:external_id|password_hash)$/
/** Of apps, of operators, and of the server. */
const impersonal = new Set([
  'app_invitations.role',
  'app_members.role',
  'review_messages.side',
  'muted_mails.topic', // one of a few
  'mails.fault', // the name of a kind of fault
  'apps.name',
  'apps.publisher', // gone when the app goes to somebody else, which comes before an erasure
  'apps.slug',
  'scopes.words',
  'audit_events.address', // for the retention of the audit log, with an ID that names nobody
  'audit_events.detail', // names of fields, states and counts
  'audit_events.reason',
  'carried_ends.value', // forgotten with the person
  'credentials.label',
  'redirect_uris.uri',
  'authorization_codes.redirect_uri',
  'app_tokens.address', // of the backend of an app
  'token_pairs.address',
  'rollbacks.reason',
  'schema_migrations.name',
  'server_keys.name',
  'server_settings.name',
  'server_settings.value',
  'service_keys.name',
  'versions.artifact_filename',
  'apps.description',
  'versions.description',
  'versions.icon_place',
  'versions.manifest',
  'versions.notes',
  'versions.rejection',
  'versions.version',
  'watermarks.name',
  'webhook_attempts.answer',
  'webhook_attempts.answer_headers',
  'webhook_attempts.error',
  'webhook_attempts.sent_headers',
  'webhook_attempts.url',
  'webhook_endpoints.reason',
  'webhook_endpoints.url',
  'webhook_events.body', // IDs and states
  'staged_resources.change',
  'staged_resources.external_id',
  'staged_resources.name', // while an import runs
  'staged_resources.slug',
])

/** The columns in which any of the texts occurs; a new table or column is looked at as soon as it exists. */
const placesOf = (texts: readonly string[]): ReadonlySet<string> => {
  using file = new Database(server.database, { readonly: true })
  const found = new Set<string>()
  const tables = file.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  for (const { name: table } of tables) {
    for (const row of file.query<Record<string, unknown>, []>(`SELECT * FROM "${table}"`).all()) {
      for (const [column, value] of Object.entries(row)) {
        const text = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
        if (texts.some((each) => text.toLowerCase().includes(each.toLowerCase()))) found.add(`${table}.${column}`)
      }
    }
  }
  return found
}

const read = async (after: number, limit = 1000) => (await ask('GET', `/audit?after=${after}&limit=${limit}`)).body

describe('the audit log of the management API', () => {
  test('gives every event once, in pages that go on where the last one ended', async () => {
    const seen: string[] = []
    let after = 0
    for (;;) {
      const { data, next } = await read(after, 7)
      if (data.length === 0) break
      seen.push(...data.map(({ id }: { id: string }) => id))
      after = next
    }
    const stored = (await auditEvents(platform)).map(({ id }) => id).filter((id) => !id.startsWith('iss_'))
    expect(new Set(seen).size).toBe(seen.length)
    expect(stored.filter((id) => !seen.includes(id)).length).toBeLessThanOrEqual(stored.length - seen.length)
    expect((await read(after)).next).toBe(after)
    await addPerson('later')
    const later = await read(after)
    expect(later.data[0].position).toBe(after + 1)
    expect(later.data.map(({ action }: { action: string }) => action)).toContain('user.created')
  })

  test('names the service key that did something', async () => {
    const { data } = await read(0)
    const put = data.find(({ action }: { action: string }) => action === 'user.erased')
    expect(put).toMatchObject({ actorKind: 'service', outcome: 'done' })
  })

  test('refuses a position or a limit that is none', async () => {
    for (const [param, query] of [
      ['after', 'after=-1'],
      ['after', 'after=x'],
      ['limit', 'limit=0'],
      ['limit', 'limit=1001'],
    ]) {
      expectRefusal(await ask('GET', `/audit?${query}`), 'invalid_request', param)
    }
  })
})
