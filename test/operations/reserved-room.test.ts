import { expect, test } from 'bun:test'
import { changeMemberRole, addMember } from '../../src/operations/apps/members.ts'
import { moveInstall } from '../../src/operations/installs/installs.ts'
import { addRedirectUri, removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { linkIdentity, unlinkIdentity } from '../../src/operations/users/identities.ts'
import { importUsers } from '../../src/operations/users/import-users.ts'
import { putBuilderUser } from '../../src/operations/users/users.ts'
import { letSecretsRollBack, setAppStatus } from '../../src/operations/apps/apps.ts'
import { deliverNext } from '../../src/operations/webhooks/deliveries.ts'
import { addEndpoint, removeEndpoint, setEndpointStatus } from '../../src/operations/webhooks/endpoints.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addApp, addUser, installApp } from '../support/world.ts'

const platform = await platformOfFile()

/** What each transaction since the last call declared of its value: whether it ends access, and so may use the room that is reserved for this. */
const declared: boolean[] = []
const watched = {
  ...platform,
  database: new Proxy(platform.database, {
    get: (database, name) => {
      if (name === 'transaction') {
        return async (...[work, options]: Parameters<typeof database.transaction>) => {
          const value = await database.transaction(work, options)
          declared.push(options?.endsAccess?.(value) === true)
          return value
        }
      }
      const value: unknown = Reflect.get(database, name, database)
      return typeof value === 'function' ? value.bind(database) : value
    },
  }),
}
const declares = async (work: Promise<unknown>): Promise<boolean> => {
  await work
  expect(declared).toHaveLength(1)
  return declared.splice(0)[0] === true
}
const acting = [watched, trace, operator] as const

test('whatever ends access may use the room on a full disk that is reserved for this, and what gives access may not', async () => {
  const [owner, person] = [await addUser(platform), await addUser(platform)]
  const app = await addApp(platform, owner)
  const { slug } = app
  const { email } = person

  const stated = { externalId: 'reserved', email: 'reserved@example.com', name: 'R', pictureUrl: null }
  expect(await declares(putBuilderUser(...acting, { ...stated, status: 'active' }))).toBe(false)
  expect(await declares(putBuilderUser(...acting, { ...stated, status: 'disabled' }))).toBe(true)

  const identity = { email, issuer: 'https://id.example.com' }
  expect(await declares(linkIdentity(...acting, { ...identity, subject: 's' }))).toBe(false)
  expect(await declares(unlinkIdentity(...acting, identity))).toBe(true)

  const uri = { slug, environment: 'production', uri: 'https://reserved.example/callback' } as const
  expect(await declares(addRedirectUri(...acting, uri))).toBe(false)
  expect(await declares(removeRedirectUri(...acting, uri))).toBe(true)

  expect(await declares(addMember(...acting, { slug, email, role: 'owner' }))).toBe(false)
  expect(await declares(changeMemberRole(...acting, { slug, userId: person.id, role: 'developer' }))).toBe(true)
  expect(await declares(changeMemberRole(...acting, { slug, userId: person.id, role: 'owner' }))).toBe(false)

  const id = await installApp(platform, app, owner)
  expect(await declares(moveInstall(...acting, { id, step: 'deactivate' }))).toBe(true)

  const wanted = { slug, environment: 'production', url: 'https://8.8.8.8/hook', kinds: ['install.created'] } as const
  const endpoint = await addEndpoint(platform, trace, operator, wanted)
  expect(await declares(setEndpointStatus(...acting, { id: endpoint.id, status: 'disabled' }))).toBe(true)
  expect(await declares(setEndpointStatus(...acting, { id: endpoint.id, status: 'enabled' }))).toBe(false)
  expect(await declares(removeEndpoint(...acting, endpoint.id))).toBe(true)

  expect(await declares(letSecretsRollBack(...acting, { slug, areAllowed: false }))).toBe(true)
  expect(await declares(letSecretsRollBack(...acting, { slug, areAllowed: true }))).toBe(false)
})

const statedUser = (externalId: string, status = 'active') => ({
  externalId,
  email: `${externalId}@example.com`,
  name: 'P',
  pictureUrl: null,
  status,
})
/** What an import of these users does, and what its transactions declared. */
const importing = async (...users: readonly object[]) => {
  const chunks = new Blob(users.map((user) => `${JSON.stringify(user)}\n`)).stream()
  const result = await importUsers(...acting, { chunks, read: (text) => JSON.parse(text) })
  return { result, ends: declared.splice(0) }
}

test('an import disables people in transactions of their own, which may use the room, before it changes and creates others', async () => {
  const known = ['leaves', 'leaves-too', 'moves', 'stays'].map((externalId) => statedUser(externalId))
  expect(await importing(...known)).toEqual({ result: { created: 4, updated: 0, unchanged: 0 }, ends: [false] })

  const changed = [
    { ...statedUser('moves', 'disabled'), email: 'moved@example.com' },
    statedUser('leaves', 'disabled'),
    statedUser('new', 'disabled'),
    statedUser('stays'),
    statedUser('leaves-too', 'disabled'),
  ]
  expect(await importing(...changed)).toEqual({ result: { created: 1, updated: 3, unchanged: 1 }, ends: [true, false] })
  expect(await importing(...changed)).toEqual({ result: { created: 0, updated: 0, unchanged: 5 }, ends: [] })
})

test('an import that only changes people may not use the room, also when it disables them under another address', async () => {
  await importing(statedUser('remains'), statedUser('goes'), statedUser('was-disabled', 'disabled'))
  const changed = [
    { ...statedUser('remains'), name: 'Q' },
    { ...statedUser('goes', 'disabled'), email: 'gone@example.com' },
    { ...statedUser('was-disabled', 'disabled'), name: 'Q' },
  ]
  for (const user of changed) expect((await importing(user)).ends, user.externalId).toEqual([false])
})

test('the result of a delivery may use the room if it disables its endpoint, and no other result may', async () => {
  const owner = await addUser(platform)
  const { slug } = await addApp(platform, owner)
  const wanted = {
    slug,
    environment: 'production',
    url: 'https://8.8.8.8/hook',
    kinds: ['app.suspended', 'app.activated'],
  } as const
  const { id } = await addEndpoint(platform, trace, operator, wanted)
  const delivers = async (status: number, to: 'suspended' | 'active') => {
    await setAppStatus(platform, trace, operator, { slug, status: to })
    const answer = { status, error: null, retryAfter: null, headers: {}, answer: '', durationMs: 1 }
    const answering = { ...watched, webhooks: { ...platform.webhooks, send: async () => answer } }
    return await declares(deliverNext(answering, trace, id, new AbortController().signal))
  }
  expect(await delivers(200, 'suspended')).toBe(false)
  expect(await delivers(410, 'active')).toBe(true)
  expect((await platform.database.queries.webhookEndpoints.find(id))?.endpoint.status).toBe('disabled')
})
