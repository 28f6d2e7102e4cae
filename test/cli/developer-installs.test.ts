import { expect, test } from 'bun:test'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { addEmbeddedVersion } from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import { pipeline } from './support/developer.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const world = await worldOfFile()
const developer = pipeline(world.server.url, world.app.development)

test('installs list shows where the app is installed, narrowed by its flags, and nothing of production in development', async () => {
  expect((await developer.run(['installs', 'list'])).stdout).toBe('None.\n')
  await addEmbeddedVersion(world.platform, world.app)
  const { id } = await createInstall(world.platform, trace, operator, {
    slug: world.app.slug,
    userEmail: world.user.email,
    kind: 'store',
    resourceSlug: 'my-store',
    environment: 'development',
  })
  expect((await developer.json(['installs', 'list'])).data).toMatchObject([
    { id, kind: 'store', resource: { id: null }, userId: world.user.id, state: 'active' },
  ])
  expect((await developer.run(['installs', 'list'])).stdout).toMatch(/^ID +KIND +PLACE +SLUG +USER +STATE +SINCE\nins_/)
  const idsWith = async (...flags: readonly string[]) =>
    (await developer.json(['installs', 'list', ...flags])).data.map((install: { id: string }) => install.id)
  expect(await idsWith('--kind', 'store', '--state', 'active')).toEqual([id])
  expect(await idsWith('--kind', 'site')).toEqual([])
  expect(await idsWith('--state', 'inactive')).toEqual([])
  expect(await idsWith('--resource-id', '17')).toEqual([])
})

test('installs list explains a value that it does not know', async () => {
  const { exitCode, stderr } = await developer.run(['installs', 'list', '--state', 'ended'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('active, inactive')
})
