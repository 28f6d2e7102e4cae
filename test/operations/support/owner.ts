import { rowKey } from '../../../src/domain/identifier.ts'
import type { VersionStep } from '../../../src/domain/version.ts'
import { issueAppToken } from '../../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { signIn } from '../../support/sign-in.ts'
import {
  type AppCaller,
  authenticateAppToken,
  authenticateSession,
  type SessionCaller,
} from '../../../src/operations/authenticate.ts'
import { createVersion } from '../../../src/operations/versions/create-version.ts'
import { moveVersion } from '../../../src/operations/versions/move-version.ts'
import { operator, trace } from '../../support/operator.ts'
import type { AppInWorld, Login } from '../../support/world.ts'

/** A new session of the user, as pages authenticate it. */
export const sessionOf = async (platform: Platform, login: Login): Promise<SessionCaller> => {
  const caller = await authenticateSession(platform, (await signIn(platform, trace, login)).sessionToken)
  if (caller === null) throw new Error('the session does not live')
  return caller
}

/** The key of a form that has not been sent. */
export const unspentTicket = (platform: Platform) => rowKey(platform.random.uuid(platform.clock.now()))

/** The app, authenticated with a token of its development credentials. */
export const developmentCaller = async (platform: Platform, app: AppInWorld): Promise<AppCaller> => {
  const { accessToken } = await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
  const caller = await authenticateAppToken(platform, accessToken)
  if (caller === null) throw new Error('the token does not live')
  return caller
}

/** Uploads a version as the app itself does, and then takes it through the steps. */
export const uploadVersion = async (
  platform: Platform,
  app: AppInWorld,
  version: string,
  steps: readonly VersionStep[] = [],
): Promise<void> => {
  const upload = { version, notes: null, manifest: { name: version }, scopes: ['site:read'], artifact: null }
  await createVersion(platform, trace, await developmentCaller(platform, app), upload, null)
  const rejection = { message: 'Not yet.', items: [] }
  for (const step of steps) {
    await moveVersion(platform, trace, operator, { slug: app.slug, version, step, rejection })
  }
}

/** The error code with which a promise rejects; 'done' if it does not. */
export const refusalOf = async (answer: Promise<unknown>): Promise<unknown> =>
  await answer.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
