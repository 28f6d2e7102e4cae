import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { authenticateAppToken } from '../../src/operations/authenticate.ts'
import { createVersion, type VersionUpload } from '../../src/operations/versions/create-version.ts'
import { moveVersion } from '../../src/operations/versions/move-version.ts'
import type { VersionRecord } from '../../src/operations/versions/version-record.ts'
import { operator, trace } from './operator.ts'
import type { AppInWorld } from './world.ts'

type Upload = { readonly version: string } & Partial<VersionUpload>

/** Uploads a draft as the app would, with a token of its development credentials. */
export const uploadVersion = async (platform: Platform, app: AppInWorld, upload: Upload): Promise<VersionRecord> => {
  const { accessToken } = await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
  const caller = await authenticateAppToken(platform, accessToken)
  if (caller === null) throw new Error('a token that was just issued is not alive')
  const plain = { notes: null, manifest: { name: app.slug }, scopes: ['site:read'], artifact: null }
  return (await createVersion(platform, trace, caller, { ...plain, ...upload }, null)).value.version
}

/** Moves a version through steps, as its owner and an operator would. */
export const moveThrough = async (
  platform: Platform,
  app: AppInWorld,
  version: string,
  ...steps: readonly ('submit' | 'withdraw' | 'approve' | 'activate')[]
): Promise<void> => {
  for (const step of steps)
    await moveVersion(platform, trace, operator, { slug: app.slug, version, step, rejection: null })
}

/** Uploads a version and submits it. */
export const submitVersion = async (platform: Platform, app: AppInWorld, upload: Upload): Promise<VersionRecord> => {
  const version = await uploadVersion(platform, app, upload)
  await moveThrough(platform, app, upload.version, 'submit')
  return version
}
