import type { App, Queries } from '../../db/database.ts'
import { recordId } from '../../src/domain/identifier.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createWorld, endWorld } from '../support/world.ts'
import { type LoadResult, runLoad } from './load.ts'
import { connections } from './phase.ts'
import { processorSecondsOf } from './processes.ts'

// What readers of the directory wait when many ask at once: a directory of many apps, read by the visitors of a builder's site.

const appsThere = 1_000
const seconds = 5
const paths = [
  '/apps',
  '/apps?q=bakery',
  '/apps?q=nobody-has-this',
  '/apps/listed-500',
  '/apps.json?limit=100',
] as const

type DirectoryFigures = LoadResult & {
  readonly path: string
  /** Of processor time in the server, for one answer. */
  readonly microseconds: number
}

/** Each path of the directory, asked over connections that are never idle. */
export const directoryFigures = async (): Promise<readonly DirectoryFigures[]> => {
  const world = await createWorld({ ownProcess: true })
  await fillDirectory(world.platform, world.user.id)
  const folder = temporaryFolder()
  const figures = []
  for (const path of paths) {
    const requests = `${folder}/requests`
    await Bun.write(requests, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`)
    const load = { port: Number(new URL(world.server.url).port), mode: 'cycle', requests, connections } as const
    await runLoad({ ...load, seconds: 1 })
    const before = processorSecondsOf(world.server.pid)
    const result = await runLoad({ ...load, seconds })
    const used = processorSecondsOf(world.server.pid) - before
    figures.push({ path, ...result, microseconds: (used / result.requests) * 1e6 })
  }
  await endWorld(world)
  return figures
}

const fillDirectory = async ({ database, random, clock }: Platform, ownerId: string): Promise<void> => {
  const now = clock.now()
  await database.transaction(async (q) => {
    for (let index = 0; index < appsThere; index += 1) {
      const app = appOf(recordId('app_', random.uuid(now)), index, ownerId, now)
      await q.apps.insert(app)
      await q.versions.insert(versionOf(recordId('ver_', random.uuid(now)), app))
    }
  })
}

const appOf = (id: string, index: number, ownerId: string, now: number): App => ({
  id,
  ownerId,
  name: index % 40 === 0 ? `Bakery ${index}` : `App ${index}`,
  slug: `listed-${index}`,
  status: 'active',
  scopes: 'profile:read site:read store:read',
  tokenScopes: 'site:read store:read',
  givenScopes: '',
  heldScopes: '',
  lostScopes: null,
  developmentVersionId: null,
  lastVersionNumber: 1,
  secretsRollBack: true,
  publisher: `Publisher ${index % 100}`,
  isListed: true,
  description,
  deletedAt: null,
  createdAt: now,
  updatedAt: now,
})

const description =
  'Sends a letter to the people who asked for it, once a week, with what is new on your site. '.repeat(2)

const versionOf = (
  id: string,
  { id: appId, scopes, createdAt }: App,
): Parameters<Queries['versions']['insert']>[0] => ({
  id,
  appId,
  number: 1,
  version: '1.0.0',
  status: 'active',
  revision: 1,
  iconSha256: null,
  iconPlace: null,
  description,
  notes: null,
  manifest: JSON.stringify({ description, website: 'https://app.example/' }),
  scopes,
  artifactSha256: null,
  artifactFilename: null,
  artifactSizeBytes: null,
  rejection: null,
  createdAt,
  updatedAt: createdAt,
  submittedAt: createdAt,
  reviewedAt: createdAt,
  reviewedBy: null,
  activatedAt: createdAt,
})
