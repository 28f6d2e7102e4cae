import { expect, test } from 'bun:test'
import { changeMemberRole, addMember } from '../../src/operations/apps/members.ts'
import { moveInstall } from '../../src/operations/installs/installs.ts'
import { addRedirectUri, removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { linkIdentity, unlinkIdentity } from '../../src/operations/users/identities.ts'
import { putBuilderUser } from '../../src/operations/users/users.ts'
import { addEndpoint, removeEndpoint, setEndpointStatus } from '../../src/operations/webhooks/endpoints.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addApp, addUser, installApp } from '../support/world.ts'

const platform = await platformOfFile()

/** What each transaction since the last call declared: whether it ends access, and so may use the room that is reserved for this. */
const declared: boolean[] = []
const watched = {
  ...platform,
  database: new Proxy(platform.database, {
    get: (database, name) => {
      if (name === 'transaction') {
        return async (...[work, options]: Parameters<typeof database.transaction>) => {
          declared.push(options?.endsAccess !== undefined)
          return await database.transaction(work, options)
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
})
