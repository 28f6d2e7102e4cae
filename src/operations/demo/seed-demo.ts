import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import { type Environment, environments } from '../../domain/app.ts'
import { atOnce } from '../../domain/awaitable.ts'
import { formatScope, parseStoredScope, scopesFor } from '../../domain/scope.ts'
import { clientOfApp, findApp } from '../apps/app-record.ts'
import { createApp } from '../apps/apps.ts'
import type { Actor } from '../audit/event.ts'
import { badInput, decide } from '../decide.ts'
import { createCredential, rotateCredential } from '../credentials/credentials.ts'
import { createInstall, moveInstall } from '../installs/installs.ts'
import { listInstalls } from '../installs/lists.ts'
import { issueAppToken } from '../oauth/issue-app-token.ts'
import type { Platform, Trace } from '../platform.ts'
import { importResources } from '../resources/import-resources.ts'
import { authenticateAppToken } from '../authenticate.ts'
import { resetPassword } from '../users/passwords.ts'
import { createUser } from '../users/users.ts'
import { createVersion } from '../versions/create-version.ts'
import { listEveryVersion } from '../versions/lists.ts'
import { moveVersion } from '../versions/move-version.ts'
import { begun, demoIn } from '../server-facts.ts'
import { webhookKinds } from '../../domain/webhook-event.ts'
import { addEndpoint, checkEndpointUrl, listEndpoints, removeEndpoint } from '../webhooks/endpoints.ts'
import type { VersionStep } from '../../domain/version.ts'
import { zipSync } from 'fflate'
import { crc32, deflateSync } from 'node:zlib'
import { receiveArtifact } from '../artifacts/artifacts.ts'

/** All logins and credentials of the demo. The passwords and secrets are shown here and never again. */
export type DemoCredentials = NonNullable<Awaited<ReturnType<typeof seedDemo>>>
export type DemoClient = DemoCredentials['apps'][number]['development']

/**
 * Fills an empty database with a demo through the ordinary operations: two users with websites and stores, two apps with
 * secrets and redirect URIs, versions in every status, one approved and one pending install. A webhook URL gets an
 * endpoint for all events before the installs are created; without one `webhook` is null. If it was interrupted before, it goes on
 * with what is missing, and gives new passwords and secrets. A complete demo stays as its users left it: null.
 * @throws invalid_request for a database with other data, or for a URL that is not allowed
 */
export const seedDemo = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  webhookUrl: string | null,
  callbacksOf: CallbacksOf = elsewhere,
) => {
  const session = [platform, trace, actor] as const
  const { queries: q } = platform.database
  const found = await demoIn(q)
  if (found === 'complete') return null
  if (found === 'none' && (await q.users.count()) > 0) {
    throw badInput('database', 'The database has data that is not of a demo: a demo needs an empty one.')
  }
  await markDemo(platform, begun) // before the URL is checked, because a demo may call this machine
  if (webhookUrl !== null) {
    await checkEndpointUrl(platform, webhookUrl).catch(async (error: unknown) => {
      if (found === 'none') await platform.database.transaction(async (q) => void (await q.watermarks.take('demo')))
      throw error
    })
  }
  const users = []
  for (const user of demoUsers) {
    const password = generatedPassword(platform.random.bytes(generatedPasswordBytes))
    const before = await q.users.byEmail(user.email)
    if (before === null) await createUser(...session, { ...user, isOperator: user.operator, password })
    else await resetPassword(...session, { userId: before.id, password })
    users.push({ ...user, password })
  }
  await importResources(...session, {
    chunks: bytesOf(demoResources),
    progress: () => undefined,
    isOfBuilder: false,
    prunes: false,
  })
  const apps = []
  for (const { slug, name, owner, description, versions } of demoApps) {
    const scopes = formatScope([...new Set([...scopesFor('user'), ...scopesFor('app')])])
    if ((await q.apps.bySlug(slug)) === null)
      await createApp(...session, { ownerEmail: owner, name, slug, scopes, publisher: 'Ada Okafor' })
    const development = await createClient(session, slug, 'development', callbacksOf)
    const production = await createClient(session, slug, 'production', callbacksOf)
    for (const version of versions) await createInStatus(session, { slug, name, description }, development, version)
    apps.push({ slug, name, scopes: parseStoredScope(scopes), development, production })
  }
  const webhook = webhookUrl === null ? null : await addWebhook(session, webhookUrl)
  const installs = []
  for (const { app, user, kind, resource, approved } of demoInstalls) {
    const input = { slug: app, userEmail: user, kind, resourceSlug: resource }
    const before = (await listInstalls(platform, app))[0]
    const created = before ?? (await createInstall(...session, input))
    const isWaiting = created.approval === 'pending' // not where installs are approved at once
    const { id, approval } =
      approved && isWaiting ? await moveInstall(...session, { id: created.id, step: 'approve' }) : created
    installs.push({ id, app, user, resource, approval })
  }
  await markDemo(platform, platform.clock.now())
  return { users, apps, installs, webhook }
}

const markDemo = async ({ database }: Platform, at: number): Promise<void> =>
  await database.transaction(async (q) => await q.watermarks.set('demo', at))

/**
 * Lets a complete demo be served at another address than before: the callbacks of its apps are there now. Returns who may want new
 * passwords and secrets. What its users have deleted stays deleted.
 */
export const reopenDemo = async (platform: Platform, trace: Trace, actor: Actor, callbacksOf: CallbacksOf) => {
  const { queries: q } = platform.database
  const clientIds = []
  for (const { slug } of demoApps) {
    const app = await q.apps.bySlug(slug)
    if (app === null || app.deletedAt !== null) continue
    for (const environment of environments) {
      for (const uri of callbacksOf(platform, slug, environment)) {
        await registerCallback([platform, trace, actor], slug, environment, uri)
      }
      clientIds.push((await clientOfApp(q, app.id, environment)).id)
    }
  }
  return { emails: demoUsers.map(({ email }) => email), clientIds }
}

/** The secrets that sign what the endpoints of the demo's first app get at this URL. */
export const demoWebhookSecrets = async (
  { database: { queries: q }, clock }: Platform,
  url: string,
): Promise<readonly Uint8Array[]> => {
  const app = await q.apps.bySlug(demoApps[0].slug)
  const endpoints = app === null ? [] : (await q.webhookEndpoints.listOfApp(app.id)).filter((one) => one.url === url)
  const found = await Promise.all(
    endpoints.map(async ({ id }) => await q.webhookEndpoints.liveSecrets(id, clock.now())),
  )
  return found.flat().map(({ secret }) => secret)
}

type Session = readonly [platform: Platform, trace: Trace, actor: Actor]

/** Added before the first install, so that it receives its event. */
const addWebhook = async (session: Session, url: string) => {
  const [{ slug }] = demoApps
  const [before] = await listEndpoints(session[0], slug)
  if (before !== undefined) await removeEndpoint(...session, before.id) // of an interrupted demo: nobody has its secret
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
 * in the API reference. The first app can also be on the developer's machine, at the address that the guides use.
 */
export const demoCallbacks: CallbacksOf = ({ publicUrl }, slug, environment) => [
  `${publicUrl}/demo/callback/${slug}/${environment}`,
  ...(slug === demoApps[0].slug && environment === 'development'
    ? [`${publicUrl}/docs/oauth2-redirect.html`, 'https://localhost:8443/callback']
    : []),
]

const createClient = async (session: Session, slug: string, environment: Environment, callbacksOf: CallbacksOf) => {
  const { clientId, clientSecret } = await onlySecret(session, slug, environment)
  const redirectUris = callbacksOf(session[0], slug, environment)
  for (const uri of redirectUris) await registerCallback(session, slug, environment, uri)
  return { clientId, clientSecret, redirectUri: redirectUris[0] }
}

/** The secret of an interrupted demo ends, because nobody has it. */
const onlySecret = async (session: Session, slug: string, environment: Environment) => {
  const [platform] = session
  const { queries: q } = platform.database
  const { id: clientId } = await clientOfApp(q, (await findApp(q, slug)).id, environment)
  return (await q.credentials.liveOfClient(clientId, platform.clock.now())).length === 0
    ? await createCredential(...session, { slug, environment, label: 'Demo' })
    : await rotateCredential(...session, { clientId, graceHours: 0 })
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
    if (await q.redirectUris.isRegistered(clientId, uri)) return null
    await q.redirectUris.insert({ uri, clientId, createdAt: now })
    await record({ action: 'redirect_uri.added', appId, environment, target: clientId, detail: { uri } })
    return null
  })

/** Uploads a version with a token of the app, unless it is there, then takes the steps that are left to its final status. */
const createInStatus = async (
  session: Session,
  { slug, name, description }: Pick<(typeof demoApps)[number], 'slug' | 'name' | 'description'>,
  client: DemoClient,
  { version, notes, steps }: DemoVersion,
): Promise<void> => {
  const [platform, trace] = session
  const before = (await listEveryVersion(platform, slug)).find((one) => one.version === version)
  const left = steps.slice(before === undefined ? 0 : stepsTo[before.status])
  const { accessToken } = await issueAppToken(platform, trace, { ...client, scope: 'site:read' })
  const caller = await authenticateAppToken(platform, accessToken)
  if (caller === null) throw new Error('a token that was just issued is not alive')
  const upload = {
    version,
    notes,
    manifest: { name, description, embedUrl: `https://${slug}.example/builder`, icon: 'icon.png' },
    scopes: ['site:read'],
    artifact: demoArchive(demoIcons[slug]),
  }
  if (before === undefined) await createVersion(platform, trace, caller, upload, null)
  for (const step of left) await moveVersion(...session, { slug, version, step, rejection })
}

/** How many steps lead from draft to a status. */
const stepsTo = { draft: 0, submitted: 1, approved: 2, rejected: 2, active: 3, superseded: 3 } as const

/** The reason of the one rejected version. */
const rejection = {
  message: 'The manifest names no support address.',
  items: [{ path: 'manifest.supportUrl', message: 'An address where people get help is required.' }],
} as const

const [ada, grace] = ['ada@example.com', 'grace@example.com'] as const
/** The users of the demo. */
const demoUsers = [
  { email: ada, name: 'Ada Okafor', operator: true },
  { email: grace, name: 'Grace Lindqvist', operator: false },
] as const

const publishedAt = '2026-03-14T09:00:00.000Z'

/** In the format of `resource import`. The builder that they are from knows them by their slugs. */
export const demoResources = [
  {
    owner: ada,
    kind: 'site',
    name: 'Ada on Engines',
    slug: 'ada-on-engines',
    externalId: 'ada-on-engines',
    status: 'published',
    publishedAt,
  },
  {
    owner: ada,
    kind: 'store',
    name: 'Punched Cards',
    slug: 'punched-cards',
    externalId: 'punched-cards',
    status: 'draft',
  },
  {
    owner: grace,
    kind: 'site',
    name: 'Garden Journal',
    slug: 'garden-journal',
    externalId: 'garden-journal',
    status: 'published',
    publishedAt,
  },
  { owner: grace, kind: 'site', name: 'Spring Fair', slug: 'spring-fair', externalId: 'spring-fair', status: 'draft' },
  {
    owner: grace,
    kind: 'site',
    name: 'Old Blog',
    slug: 'old-blog',
    externalId: 'old-blog',
    status: 'archived',
    publishedAt,
  },
  {
    owner: grace,
    kind: 'store',
    name: 'Plant Shop',
    slug: 'plant-shop',
    externalId: 'plant-shop',
    status: 'published',
    publishedAt,
  },
  {
    owner: grace,
    kind: 'store',
    name: 'Seed Swap',
    slug: 'seed-swap',
    externalId: 'seed-swap',
    status: 'archived',
    publishedAt,
  },
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
  {
    slug: 'newsletter',
    name: 'Newsletter Studio',
    owner: ada,
    description: 'Write letters to your visitors, schedule them, and see who has read them.',
    versions: newsletterVersions,
  },
  {
    slug: 'shop-insights',
    name: 'Shop Insights',
    owner: ada,
    description: 'See what sells in your stores, and when.',
    versions: [{ version: '0.1.0', notes: 'First draft.', steps: [] }],
  },
] as const

/** One approved install, and one that waits for an operator. */
const demoInstalls = [
  { app: 'newsletter', user: grace, kind: 'site', resource: 'garden-journal', approved: true },
  { app: 'shop-insights', user: grace, kind: 'store', resource: 'plant-shop', approved: false },
] as const

/** Whether a picture has ink at a point. */
type Drawing = (x: number, y: number) => boolean

type DemoIcon = { readonly ground: readonly [red: number, green: number, blue: number]; readonly drawing: Drawing }

const side = 128

const isEnvelope: Drawing = (x, y) =>
  x >= 24 && x < 104 && y >= 38 && y < 90 && Math.abs(y - 38 - (40 - Math.abs(x - 64)) * 0.8) > 4
const isChart: Drawing = (x, y) =>
  y < 100 && ((x >= 28 && x < 44 && y >= 76) || (x >= 56 && x < 72 && y >= 52) || (x >= 84 && x < 100 && y >= 28))

const demoIcons = {
  newsletter: { ground: [0x34, 0x51, 0xd1], drawing: isEnvelope },
  'shop-insights': { ground: [0x0f, 0x76, 0x4d], drawing: isChart },
} as const satisfies Readonly<Record<string, DemoIcon>>

/** The archive of an app in the demo: its icon, white on a ground, in a PNG of two colours. */
const demoArchive = (icon: DemoIcon) => {
  const bytes = zipSync({ 'icon.png': pngOf(icon) }, { mtime: new Date(1980, 0, 1) })
  return { filename: 'app.zip', content: atOnce(receiveArtifact(bytes)), sha256: null }
}

const pngOf = ({ ground, drawing }: DemoIcon): Uint8Array<ArrayBuffer> => {
  // One byte per pixel; each row has one before it that says "no filter".
  const rows = new Uint8Array(side * (side + 1)).map((_, at) => Number(drawing((at % (side + 1)) - 1, at / (side + 1))))
  const sides = [0, 0, 0, side, 0, 0, 0, side]
  const header = [...sides, 8, 3, 0, 0, 0]
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', new Uint8Array(header)),
      chunk('PLTE', new Uint8Array([...ground, 255, 255, 255])),
      chunk('IDAT', deflateSync(rows)),
      chunk('IEND', new Uint8Array()),
    ]),
  )
}

const chunk = (name: string, data: Uint8Array): Buffer => {
  const content = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, sum])
}
