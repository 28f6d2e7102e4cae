import type { Environment } from '../../src/domain/app.ts'
import { parseScope, type ScopeName } from '../../src/domain/scope.ts'
import type { VersionStep } from '../../src/domain/version.ts'
import { issueInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { createInstall, moveInstall } from '../../src/operations/installs/installs.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { authenticateAppToken, authenticateSession } from '../../src/operations/authenticate.ts'
import { createVersion } from '../../src/operations/versions/create-version.ts'
import { moveVersion } from '../../src/operations/versions/move-version.ts'
import { type Answer, call } from './call.ts'
import { operator, trace } from './operator.ts'
import type { AppInWorld, Login } from './world.ts'

/** The origin and the page of an app in the tests. */
export const embedOrigin = ({ slug }: { readonly slug: string }): string => `https://${slug}.example`
export const embedUrl = (app: { readonly slug: string }): string => `${embedOrigin(app)}/builder?theme=plain`

const live: readonly VersionStep[] = ['submit', 'approve', 'activate']

type Upload = {
  readonly version?: string
  readonly scopes?: readonly ScopeName[]
  readonly steps?: readonly VersionStep[]
  readonly manifest?: Readonly<Record<string, unknown>>
}

/** A version of the app with a page for the builder; live unless said otherwise. */
export const addEmbeddedVersion = async (platform: Platform, app: AppInWorld, upload: Upload = {}): Promise<void> => {
  const { version = '1.0.0', scopes = ['profile:read', 'site:read'], steps = live } = upload
  const { accessToken } = await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
  const caller = await authenticateAppToken(platform, accessToken)
  if (caller === null) throw new Error('a token that was just issued is not alive')
  const manifest = upload.manifest ?? { name: app.slug, embedUrl: embedUrl(app) }
  await createVersion(platform, trace, caller, { version, notes: null, manifest, scopes, artifact: null }, null)
  for (const step of steps) {
    await moveVersion(platform, trace, operator, { slug: app.slug, version, step, rejection: null })
  }
}

/** An approved install of the current app on a website or store of the user. */
export const installEmbedded = async (
  platform: Platform,
  app: AppInWorld,
  user: Login,
  { kind = 'store', environment = 'production' }: { kind?: 'site' | 'store'; environment?: Environment } = {},
): Promise<string> => {
  const { id, approval } = await createInstall(platform, trace, operator, {
    slug: app.slug,
    userEmail: user.email,
    kind,
    resourceSlug: `my-${kind}`,
    environment,
  })
  if (approval === 'pending') await moveInstall(platform, trace, operator, { id, step: 'approve' })
  return id
}

/** Makes a version of the app live that has a page, and installs it on the user's store. Returns the ID of the install. */
export const addEmbeddedInstall = async (platform: Platform, app: AppInWorld, user: Login): Promise<string> => {
  await addEmbeddedVersion(platform, app)
  return await installEmbedded(platform, app, user)
}

export const scopesIn = (text: string): readonly ScopeName[] => {
  const parsed = parseScope(text)
  return parsed.kind === 'scopes' ? parsed.scopes : []
}

/** The one-time code that the builder's page puts into the URL of the frame. */
export const openInstall = async (platform: Platform, sessionToken: string, installId: string): Promise<string> => {
  const session = await authenticateSession(platform, sessionToken)
  if (session === null) throw new Error('the session does not live')
  return (await issueInstallSessionCode(platform, trace, session, installId)).code
}

type Exchange = { readonly clientId: string; readonly code: string; readonly origin: string | null }

/** Asks for a session as the page in the frame does. */
export const exchangeInstallCode = async (url: string, { clientId, code, origin }: Exchange): Promise<Answer> =>
  await call(url, 'POST', '~/api/embedded/session', {
    body: { clientId, code },
    headers: origin === null ? {} : { Origin: origin },
  })
