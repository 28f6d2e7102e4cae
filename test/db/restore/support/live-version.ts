import type { Platform } from '../../../../src/operations/platform.ts'
import type { Environment } from '../../../../src/domain/app.ts'
import { rollBackVersion } from '../../../../src/operations/versions/move-version.ts'
import { developmentCaller } from '../../../operations/support/owner.ts'
import { trace } from '../../../support/operator.ts'
import { moveThrough, submitVersion } from '../../../support/version.ts'
import { addApp, type AppInWorld, type Login } from '../../../support/world.ts'
import type { Thing } from './things.ts'

export const goLive = async (platform: Platform, app: AppInWorld, version: string): Promise<void> => {
  await submitVersion(platform, app, { version, manifest: { name: app.slug, description: `What ${version} does` } })
  await moveThrough(platform, app, version, 'approve', 'activate')
}

export const rollBack = async (
  platform: Platform,
  app: AppInWorld,
  version: string,
  environment: Environment = 'production',
): Promise<void> => {
  const request = { target: { version }, environment, reason: 'It does not start.', dryRun: false }
  await rollBackVersion(platform, trace, await developmentCaller(platform, app), request, null)
}

export const liveVersion = async ({ database }: Platform, app: AppInWorld): Promise<string | null> =>
  (await database.queries.versions.active(app.id))?.version ?? null

/** The second version of an app, which is rolled back to the first. */
export const makeLiveVersion = async (platform: Platform, owner: Login): Promise<Thing> => {
  const app = await addApp(platform, owner)
  for (const version of ['1.0.0', '2.0.0']) await goLive(platform, app, version)
  return {
    name: 'version, live',
    end: async (at) => await rollBack(at, app, '1.0.0'),
    begin: async (at) => await rollBack(at, app, '2.0.0'),
    isInForce: async (at) => (await liveVersion(at, app)) === '2.0.0',
  }
}
