import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import type { Environment } from '../../domain/app.ts'
import { formatScope, scopesFor } from '../../domain/scope.ts'
import { clientOfApp, findApp } from '../apps/app-record.ts'
import { createApp } from '../apps/apps.ts'
import type { Actor } from '../audit/event.ts'
import { badInput, decide } from '../decide.ts'
import { createCredential } from '../credentials/credentials.ts'
import { createInstall, moveInstall } from '../installs/installs.ts'
import { issueAppToken } from '../oauth/issue-app-token.ts'
import type { Platform, Trace } from '../platform.ts'
import { importResources } from '../resources/import-resources.ts'
import { authenticateAppToken } from '../authenticate.ts'
import { createUser } from '../users/users.ts'
import { createVersion } from '../versions/create-version.ts'
import { moveVersion } from '../versions/move-version.ts'
import { webhookKinds } from '../../domain/webhook-event.ts'
import { addEndpoint, checkEndpointUrl } from '../webhooks/endpoints.ts'
import type { VersionStep } from '../../domain/version.ts'

/** All logins and credentials of the demo. The passwords and secrets are shown here and never again. */
export type DemoCredentials = Awaited<ReturnType<typeof seedDemo>>
export type DemoClient = DemoCredentials['apps'][number]['development']

/**
 * Fills an empty database with a demo through the ordinary operations: two users with websites and stores, two apps with
 * secrets and redirect URIs, versions in every status, one approved and one pending install. A webhook URL gets an
 * endpoint for all events before the installs are created; without one `webhook` is null.
 * @throws invalid_request when a user exists already, or for a URL that is not allowed
 */
export const seedDemo = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  webhookUrl: string | null,
  callbacksOf: CallbacksOf = elsewhere,
) => {
  const session = [platform, trace, actor] as const
  if ((await platform.database.queries.users.count()) > 0) {
    throw badInput('database', 'The database is not empty: a demo needs an empty one.')
  }
  if (webhookUrl !== null) await checkEndpointUrl(platform, webhookUrl)
  const users = []
  for (const user of demoUsers) {
    const password = generatedPassword(platform.random.bytes(generatedPasswordBytes))
    await createUser(...session, { ...user, isOperator: user.operator, password })
    users.push({ ...user, password })
  }
  await importResources(...session, {
    chunks: bytesOf(demoResources),
    progress: () => undefined,
    isOfBuilder: false,
    prunes: false,
  })
  const apps = []
  for (const { slug, name, owner, versions } of demoApps) {
    const scopes = formatScope([...new Set([...scopesFor('user'), ...scopesFor('app')])])
    const app = await createApp(...session, { ownerEmail: owner, name, slug, scopes })
    const development = await createClient(session, slug, 'development', callbacksOf)
    const production = await createClient(session, slug, 'production', callbacksOf)
    for (const version of versions) await createInStatus(session, slug, development, version)
    apps.push({ slug, name, scopes: app.scopes, development, production })
  }
  const webhook = webhookUrl === null ? null : await addWebhook(session, webhookUrl)
  const installs = []
  for (const { app, user, kind, resource, approved } of demoInstalls) {
    const input = { slug: app, userEmail: user, kind, resourceSlug: resource }
    const created = await createInstall(...session, input)
    const isWaiting = created.approval === 'pending' // not where installs are approved at once
    const { id, approval } =
      approved && isWaiting ? await moveInstall(...session, { id: created.id, step: 'approve' }) : created
    installs.push({ id, app, user, resource, approval })
  }
  return { users, apps, installs, webhook }
}

type Session = readonly [platform: Platform, trace: Trace, actor: Actor]

/** Added before the first install, so that it receives its event. */
const addWebhook = async (session: Session, url: string) => {
  const [{ slug }] = demoApps
  const wanted = { slug, environment: 'production', url, kinds: [...webhookKinds] } as const
  const { id, secret } = await addEndpoint(...session, wanted)
  return { id, app: slug, url, secret }
}

async function* bytesOf(records: readonly unknown[]) {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`)
}

/** The redirect URI of an app of the demo, and others that are registered for it. */
type CallbacksOf = (platform: Platform, slug: string, environment: Environment) => readonly [string, ...string[]]

/** A reserved name that does not resolve (RFC 2606). */
const elsewhere: CallbacksOf = (_, slug, environment) => [`https://${slug}.example/${environment}/callback`]

/**
 * Pages of this server: one stands for the app's backend (`pages/demo-callback.tsx`); the other, of the first app, ends *Authorize*
 * in the API reference.
 */
export const demoCallbacks: CallbacksOf = ({ publicUrl }, slug, environment) => [
  `${publicUrl}/demo/callback/${slug}/${environment}`,
  ...(slug === demoApps[0].slug && environment === 'development' ? [`${publicUrl}/docs/oauth2-redirect.html`] : []),
]

const createClient = async (session: Session, slug: string, environment: Environment, callbacksOf: CallbacksOf) => {
  const { clientId, clientSecret } = await createCredential(...session, { slug, environment, label: 'Demo' })
  const redirectUris = callbacksOf(session[0], slug, environment)
  for (const uri of redirectUris) await registerCallback(session, slug, environment, uri)
  return { clientId, clientSecret, redirectUri: redirectUris[0] }
}

/** Without the rules for redirect URIs: the server of `dev` has no certificate, and nobody else can reach it. */
const registerCallback = async (
  [platform, trace, actor]: Session,
  slug: string,
  environment: Environment,
  uri: string,
) =>
  await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const { id: clientId, appId } = await clientOfApp(q, (await findApp(q, slug)).id, environment)
    await q.redirectUris.insert({ uri, clientId, createdAt: now })
    await record({ action: 'redirect_uri.added', appId, environment, target: clientId, detail: { uri } })
    return null
  })

/** Uploads a version with a token of the app, then takes the steps to its final status. */
const createInStatus = async (
  session: Session,
  slug: string,
  client: DemoClient,
  { version, notes, steps }: DemoVersion,
): Promise<void> => {
  const [platform, trace] = session
  const { accessToken } = await issueAppToken(platform, trace, { ...client, scope: 'site:read' })
  const caller = await authenticateAppToken(platform, accessToken)
  if (caller === null) throw new Error('a token that was just issued is not alive')
  const upload = {
    version,
    notes,
    manifest: { name: slug, embedUrl: `https://${slug}.example/builder` },
    scopes: ['site:read'],
    artifact: null,
  }
  await createVersion(platform, trace, caller, upload, null)
  for (const step of steps) await moveVersion(...session, { slug, version, step, rejection })
}

/** The reason of the one rejected version. */
const rejection = {
  message: 'The manifest names no support address.',
  items: [{ path: 'manifest.support', message: 'An address where people get help is required.' }],
} as const

const [ada, grace] = ['ada@example.com', 'grace@example.com'] as const
/** The users of the demo. */
const demoUsers = [
  { email: ada, name: 'Ada Okafor', operator: true },
  { email: grace, name: 'Grace Lindqvist', operator: false },
] as const

const publishedAt = '2026-03-14T09:00:00.000Z'

/** In the format of `resource import`. */
export const demoResources = [
  { owner: ada, kind: 'site', name: 'Ada on Engines', slug: 'ada-on-engines', status: 'published', publishedAt },
  { owner: ada, kind: 'store', name: 'Punched Cards', slug: 'punched-cards', status: 'draft' },
  { owner: grace, kind: 'site', name: 'Garden Journal', slug: 'garden-journal', status: 'published', publishedAt },
  { owner: grace, kind: 'site', name: 'Spring Fair', slug: 'spring-fair', status: 'draft' },
  { owner: grace, kind: 'site', name: 'Old Blog', slug: 'old-blog', status: 'archived', publishedAt },
  { owner: grace, kind: 'store', name: 'Plant Shop', slug: 'plant-shop', status: 'published', publishedAt },
  { owner: grace, kind: 'store', name: 'Seed Swap', slug: 'seed-swap', status: 'archived', publishedAt },
] as const

type DemoVersion = {
  readonly version: string
  readonly notes: string
  /** The steps from draft to its final status. */
  readonly steps: readonly VersionStep[]
}

const released = ['submit', 'approve', 'activate'] as const

/** The first app has a version in every status: activating 1.1.0 supersedes 1.0.0. */
const newsletterVersions: readonly DemoVersion[] = [
  { version: '1.0.0', notes: 'First release.', steps: released },
  { version: '1.1.0', notes: 'Letters can be scheduled.', steps: released },
  { version: '1.2.0-beta.1', notes: 'A new editor, too early.', steps: ['submit', 'reject'] },
  { version: '1.2.0', notes: 'A new editor.', steps: ['submit', 'approve'] },
  { version: '1.3.0', notes: 'Letters in several languages.', steps: ['submit'] },
  { version: '1.4.0', notes: 'Work in progress.', steps: [] },
]

const demoApps = [
  { slug: 'newsletter', name: 'Newsletter Studio', owner: ada, versions: newsletterVersions },
  {
    slug: 'shop-insights',
    name: 'Shop Insights',
    owner: ada,
    versions: [{ version: '0.1.0', notes: 'First draft.', steps: [] }],
  },
] as const

/** One approved install, and one that waits for an operator. */
const demoInstalls = [
  { app: 'newsletter', user: grace, kind: 'site', resource: 'garden-journal', approved: true },
  { app: 'shop-insights', user: grace, kind: 'store', resource: 'plant-shop', approved: false },
] as const
