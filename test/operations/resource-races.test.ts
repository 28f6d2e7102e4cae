import { expect, test } from 'bun:test'
import { PlatformError } from '../../src/domain/errors.ts'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { deleteBuilderResource, putBuilderResource } from '../../src/operations/resources/resources.ts'
import { importResources } from '../../src/operations/resources/import-resources.ts'
import { putBuilderUser } from '../../src/operations/users/users.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addApp, addUser } from '../support/world.ts'

// On PostgreSQL, changes of websites and stores run beside each other and beside installs. Several rounds, because who is first is
// chance.

const platform = await platformOfFile()
const { queries } = platform.database
const app = await addApp(platform, await addUser(platform))
const rounds = 15

const newUser = async (externalId: string): Promise<{ readonly externalId: string; readonly email: string }> => {
  const email = `${externalId}@builder.example`
  const facts = { externalId, email, name: 'A user', pictureUrl: null }
  await putBuilderUser(platform, trace, operator, { ...facts, status: 'active' })
  return { externalId, email }
}
const siteOf = (ownerExternalId: string, externalId: string, slug = externalId) => ({
  kind: 'site' as const,
  externalId,
  ownerExternalId,
  name: 'A site',
  slug,
  status: 'published' as const,
})
const put = async (site: ReturnType<typeof siteOf>) =>
  await putBuilderResource(platform, trace, operator, { ...site, createdAt: null, updatedAt: null })
const importOne = async (site: ReturnType<typeof siteOf>) => {
  const chunks = async function* () {
    yield new TextEncoder().encode(JSON.stringify(site))
  }
  const file = { chunks: chunks(), progress: () => undefined, isOfBuilder: true, prunes: false }
  return await importResources(platform, trace, operator, file)
}
const installOn = async (userEmail: string, resourceSlug: string) =>
  await createInstall(platform, trace, operator, { slug: app.slug, userEmail, kind: 'site', resourceSlug })

/** Runs all at once. They may be refused, but not fail. */
const atOnce = async (...calls: readonly (() => Promise<unknown>)[]): Promise<void> => {
  for (const outcome of await Promise.allSettled(calls.map(async (call) => await call()))) {
    if (outcome.status === 'rejected' && !(outcome.reason instanceof PlatformError)) throw outcome.reason
  }
}

test.each([
  ['a single call', put],
  ['an import', importOne],
])('an install that is made while %s gives its website to another owner is refused or ended', async (way, give) => {
  for (let round = 0; round < rounds; round += 1) {
    const name = `${way.replaceAll(' ', '-')}-${round}`
    const [one, other] = [await newUser(`${name}-one`), await newUser(`${name}-other`)]
    const { resource } = await put(siteOf(one.externalId, name))
    await atOnce(
      async () => await installOn(one.email, resource.slug),
      async () => await give(siteOf(other.externalId, name)),
    )
    const row = await queries.resources.byExternalId('site', name)
    expect(row?.ownerId).toBe((await queries.users.byExternalId(other.externalId))?.id ?? '')
    expect(await queries.builderInstalls.openOn([row?.id ?? ''])).toEqual([])
  }
})

test('an install that is made while its website is removed is refused or ended', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const name = `removed-${round}`
    const { email } = await newUser(name)
    const { resource } = await put(siteOf(name, name))
    const row = await queries.resources.byExternalId('site', name)
    await atOnce(
      async () => await installOn(email, resource.slug),
      async () => await deleteBuilderResource(platform, trace, operator, { kind: 'site', externalId: name }),
    )
    expect(await queries.builderInstalls.openOn([row?.id ?? ''])).toEqual([])
  }
})

test('nothing stays of a user who is erased while websites come to them', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const name = `erased-${round}`
    await newUser(name)
    const id = (await queries.users.byExternalId(name))?.id ?? ''
    await atOnce(
      async () => await put(siteOf(name, `${name}-put`)),
      async () => await importOne(siteOf(name, `${name}-imported`)),
      async () => await eraseUser(platform, trace, operator, { externalId: name }),
    )
    expect((await queries.users.byId(id))?.erasedAt).not.toBeNull()
    expect(await queries.resources.ofOwner(id)).toEqual([])
  }
})

test('of single calls and imports that create one website at once, one creates it', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const name = `created-${round}`
    await newUser(name)
    const site = siteOf(name, name)
    const calls = [put, importOne, put, importOne].map((call) => async () => await call(site))
    await atOnce(...calls)
    expect((await queries.resources.ofOwner((await queries.users.byExternalId(name))?.id ?? '')).length).toBe(1)
  }
})
