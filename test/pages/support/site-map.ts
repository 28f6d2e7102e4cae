import { authorizeBody } from '../../support/world.ts'
import { disabledEndpoint, framedOrigin, stockedEndpoint, stockedScope, type StockedWorld } from './stocked-world.ts'

export type Who = 'visitor' | 'user' | 'operator'
export type Site = {
  readonly pattern: string
  /** Who sees it: the owner of the stocked app, an operator, or somebody who has not signed in. */
  readonly who: Who
  /** Its addresses in a stocked world, one for each state that it can show. */
  readonly paths: (world: StockedWorld) => readonly string[]
  /** It has no content of its own, and leads on to another page. */
  readonly leadsOn?: true
  /** It is a download and not a page; `artifact-download.test.ts` tests its headers. */
  readonly isDownload?: true
  /** Every signed-in person may use it, although its path names something. */
  readonly isForEverybody?: true
  /** The origin that its frame shows. */
  readonly framed?: string
}

/** Asks for a code as the app would, changed by `change`. */
export const askPath = ({ app }: StockedWorld, change: Readonly<Record<string, string>> = {}): string => {
  const { clientId, redirectUri, scope, state, codeChallenge } = authorizeBody(app)
  const asked = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scope.split(' ').toSorted().join(' '), // as it comes back
    state,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    ...change,
  }
  return `/oauth/authorize?${new URLSearchParams(asked).toString()}`
}

/** Pages of the stocked app in the console. */
const inConsole =
  (...pages: readonly string[]) =>
  ({ app }: StockedWorld): readonly string[] =>
    pages.map((page) => `/console/${app.slug}${page}`)

/** Reviews of the stocked app's versions. */
const inReviews =
  (...versions: readonly string[]) =>
  ({ app }: StockedWorld): readonly string[] =>
    versions.map((version) => `/desk/reviews/${app.slug}/${version}`)

/** A page of the desk about the stranger. */
const ofStranger =
  (page: string) =>
  ({ stranger }: StockedWorld): readonly string[] => [`/desk/users/${stranger.id}/${page}`]

/** The same, and about one who is suspended and has a second factor. */
const ofStrangers =
  (page: string) =>
  ({ stranger, suspendedUser }: StockedWorld): readonly string[] =>
    [stranger, suspendedUser].map(({ id }) => `/desk/users/${id}/${page}`)

/** Guides that have every part which a guide can have. */
const guidePaths = () =>
  ['settings', 'backup-and-restore', 'oauth-libraries', 'errors', 'changelog'].map((topic) => `/docs/guides/${topic}`)

/** Every page, by the pattern of its route. A page that is missing here fails the tests of the whole site. */
export const siteMap: readonly Site[] = [
  { pattern: '/sign-in', who: 'visitor', paths: () => ['/sign-in', '/sign-in?return_to=%2Faccount'] },
  { pattern: '/signed-out', who: 'visitor', paths: () => ['/signed-out'] },
  { pattern: '/sign-in/handover', who: 'visitor', paths: () => ['/sign-in/handover'], leadsOn: true },
  { pattern: '/sign-in/oidc', who: 'visitor', paths: () => ['/sign-in/oidc'], leadsOn: true },
  // These two only take answers; the tests of signing in through others look at what they refuse.
  { pattern: '/sign-in/complete', who: 'visitor', paths: () => [] },
  { pattern: '/sign-in/oidc/callback', who: 'visitor', paths: () => [] },
  // Without a sign-in that waits they lead to the first page; `second-factors.test.ts` looks at them.
  { pattern: '/sign-in/code', who: 'visitor', paths: () => ['/sign-in/code'], leadsOn: true },
  { pattern: '/sign-in/factor', who: 'visitor', paths: () => ['/sign-in/factor'], leadsOn: true },
  { pattern: '/confirm-email', who: 'visitor', paths: () => ['/confirm-email?done=set'] },
  { pattern: '/forgot-password', who: 'visitor', paths: () => ['/forgot-password'] },
  { pattern: '/set-password', who: 'visitor', paths: () => ['/set-password?done=set'] },
  {
    pattern: '/docs/guides',
    who: 'visitor',
    paths: () => ['/docs/guides', '/docs/guides?q=token', '/docs/guides?q=nowhere'],
  },
  { pattern: '/docs/reference', who: 'visitor', paths: () => ['/docs/reference'], isForEverybody: true },
  {
    pattern: '/docs/reference/builder',
    who: 'visitor',
    paths: () => ['/docs/reference/builder'],
    isForEverybody: true,
  },
  { pattern: '/docs/guides/:topic', who: 'visitor', paths: guidePaths, isForEverybody: true },
  { pattern: '/', who: 'user', paths: () => ['/'] },
  {
    pattern: '/oauth/authorize',
    who: 'user',
    paths: (world) => [askPath(world), askPath({ ...world, app: world.strangersApp })],
  },
  { pattern: '/account', who: 'user', paths: () => ['/account'] },
  { pattern: '/account/email', who: 'user', paths: () => ['/account/email'] },
  { pattern: '/account/mails', who: 'user', paths: () => ['/account/mails'] },
  { pattern: '/account/password', who: 'user', paths: () => ['/account/password'] },
  { pattern: '/account/prove', who: 'user', paths: () => ['/account/prove?return_to=%2Faccount'] },
  { pattern: '/account/prove/oidc', who: 'user', paths: () => ['/account/prove/oidc'], leadsOn: true },
  { pattern: '/account/prove/handover', who: 'user', paths: () => ['/account/prove/handover'], leadsOn: true },
  { pattern: '/account/factors', who: 'user', paths: () => ['/account/factors'] },
  { pattern: '/account/factors/passkeys/new', who: 'user', paths: () => ['/account/factors/passkeys/new'] },
  // Whoever has a passkey is asked for it at the sign-in; `passkeys-browser.test.ts` has one.
  { pattern: '/account/factors/passkeys/:id/remove', who: 'user', paths: () => [] },
  { pattern: '/account/factors/totp', who: 'user', paths: () => ['/account/factors/totp'] },
  { pattern: '/account/factors/totp/remove', who: 'user', paths: () => ['/account/factors/totp/remove'] },
  { pattern: '/account/factors/recovery-codes', who: 'user', paths: () => ['/account/factors/recovery-codes'] },
  { pattern: '/account/factors/recovery-codes/new', who: 'user', paths: () => ['/account/factors/recovery-codes/new'] },
  { pattern: '/account/factors/offer', who: 'operator', paths: () => ['/account/factors/offer'] },
  { pattern: '/account/sessions', who: 'user', paths: () => ['/account/sessions'] },
  { pattern: '/account/sessions/end-all', who: 'user', paths: () => ['/account/sessions/end-all'] },
  { pattern: '/account/apps', who: 'user', paths: () => ['/account/apps'] },
  {
    pattern: '/account/apps/:clientId',
    who: 'user',
    paths: ({ app }) => [`/account/apps/${app.development.clientId}`],
  },
  {
    pattern: '/account/apps/:clientId/revoke',
    who: 'user',
    paths: ({ app }) => [`/account/apps/${app.development.clientId}/revoke`],
  },
  { pattern: '/account/apps/revoke-all', who: 'user', paths: () => ['/account/apps/revoke-all'] },
  {
    pattern: '/account/apps/:clientId/authorizations/:grantId/revoke',
    who: 'user',
    paths: ({ app, grantId }) => [`/account/apps/${app.development.clientId}/authorizations/${grantId}/revoke`],
  },
  {
    pattern: '/account/sessions/:key/end',
    who: 'user',
    paths: ({ otherSessionKey }) => [`/account/sessions/${otherSessionKey}/end`],
  },
  { pattern: '/account/sessions/end-others', who: 'user', paths: () => ['/account/sessions/end-others'] },
  { pattern: '/installs', who: 'user', paths: () => ['/installs'] },
  {
    pattern: '/installs/:id',
    who: 'user',
    paths: ({ openableInstallId }) => [`/installs/${openableInstallId}`],
    leadsOn: true,
    isForEverybody: true,
  },
  {
    pattern: '/installs/:id/end',
    who: 'user',
    paths: ({ openableInstallId }) => [`/installs/${openableInstallId}/end`],
  },
  { pattern: '/apps', who: 'visitor', paths: () => ['/apps', '/apps?q=none'] },
  {
    pattern: '/apps/:slug',
    who: 'visitor',
    paths: ({ strangersApp }) => [`/apps/${strangersApp.slug}`],
    isForEverybody: true,
  },
  {
    pattern: '/apps/:slug/install',
    who: 'user',
    paths: ({ app }) => [`/apps/${app.slug}/install`],
    isForEverybody: true,
  },
  { pattern: '/apps/:slug/test', who: 'user', paths: ({ app }) => [`/apps/${app.slug}/test`] },
  {
    pattern: '/installs/:id/open',
    who: 'user',
    paths: ({ openableInstallId }) => [`/installs/${openableInstallId}/open`],
    framed: framedOrigin,
  },
  { pattern: '/console', who: 'user', paths: () => ['/console'] },
  { pattern: '/console/new', who: 'user', paths: () => ['/console/new'] },
  { pattern: '/console/:slug', who: 'user', paths: inConsole('', '?environment=development') },
  {
    pattern: '/console/:slug/first-call',
    who: 'user',
    paths: inConsole('/first-call', '/first-call?environment=production'),
  },
  {
    pattern: '/console/:slug/credentials',
    who: 'user',
    paths: inConsole('/credentials', '/credentials?environment=development'),
  },
  { pattern: '/console/:slug/credentials/new', who: 'user', paths: inConsole('/credentials/new') },
  {
    pattern: '/console/:slug/credentials/:id/revoke',
    who: 'user',
    paths: ({ app, liveSecretId }) => [`/console/${app.slug}/credentials/${liveSecretId}/revoke`],
  },
  {
    pattern: '/console/:slug/credentials/:id/secret',
    who: 'user',
    paths: ({ app, liveSecretId }) => [`/console/${app.slug}/credentials/${liveSecretId}/secret`],
  },
  {
    pattern: '/console/:slug/credentials/rotate',
    who: 'user',
    paths: inConsole('/credentials/rotate?environment=production'),
  },
  {
    pattern: '/console/:slug/redirect-uris/remove',
    who: 'user',
    paths: ({ app, longUri }) => [
      `/console/${app.slug}/redirect-uris/remove?${new URLSearchParams({ environment: 'development', uri: longUri }).toString()}`,
    ],
  },
  { pattern: '/console/:slug/credentials/ended', who: 'user', paths: inConsole('/credentials/ended') },
  {
    pattern: '/console/:slug/redirect-uris',
    who: 'user',
    paths: inConsole('/redirect-uris', '/redirect-uris?environment=development'),
  },
  { pattern: '/console/:slug/scopes', who: 'user', paths: inConsole('/scopes') },
  {
    pattern: '/console/:slug/versions',
    who: 'user',
    paths: inConsole('/versions', '/versions?status=submitted', '/versions?status=superseded'),
  },
  {
    pattern: '/console/:slug/versions/:version',
    who: 'user',
    paths: inConsole('/versions/1.1.0', '/versions/1.2.0', '/versions/2.0.0', `/versions/2.1.0-${'long.'.repeat(8)}1`),
  },
  { pattern: '/console/:slug/versions/new', who: 'user', paths: inConsole('/versions/new') },
  {
    pattern: '/console/:slug/versions/:version/delete',
    who: 'user',
    paths: inConsole(`/versions/2.1.0-${'long.'.repeat(8)}1/delete`),
  },
  {
    pattern: '/console/:slug/versions/:version/edit',
    who: 'user',
    paths: inConsole(`/versions/2.1.0-${'long.'.repeat(8)}1/edit`),
  },
  {
    pattern: '/console/:slug/versions/:version/artifact',
    who: 'user',
    paths: inConsole('/versions/1.1.0/artifact'),
    isDownload: true,
  },
  {
    pattern: '/console/:slug/rollbacks/new',
    who: 'user',
    paths: inConsole('/rollbacks/new', '/rollbacks/new?environment=development'),
  },
  { pattern: '/console/:slug/rollbacks', who: 'user', paths: inConsole('/rollbacks') },
  { pattern: '/console/:slug/live', who: 'user', paths: inConsole('/live') },
  { pattern: '/console/:slug/installs', who: 'user', paths: inConsole('/installs') },
  {
    pattern: '/console/:slug/webhooks',
    who: 'user',
    paths: inConsole('/webhooks', '/webhooks?environment=development'),
  },
  {
    pattern: '/console/:slug/webhooks/new',
    who: 'user',
    paths: inConsole('/webhooks/new', '/webhooks/new?environment=production'),
  },
  {
    pattern: '/console/:slug/webhooks/:id',
    who: 'user',
    paths: (world) => inConsole(...world.endpointIds.map((id) => `/webhooks/${id}`))(world),
  },
  ...(['disable', 'remove', 'rotate', 'secret'] as const).map(
    (step) =>
      ({
        pattern: `/console/:slug/webhooks/:id/${step}`,
        who: 'user',
        paths: (world: StockedWorld) =>
          inConsole(...world.endpointIds.slice(0, 1).map((id) => `/webhooks/${id}/${step}`))(world),
      }) as const,
  ),
  {
    pattern: '/console/:slug/webhooks/:id/edit',
    who: 'user',
    paths: (world) => inConsole(...world.endpointIds.map((id) => `/webhooks/${id}/edit`))(world),
  },
  {
    pattern: '/console/:slug/webhooks/:id/attempts/:attempt',
    who: 'user',
    paths: (world) => inConsole(...world.attemptPaths)(world),
  },
  { pattern: '/console/:slug/members', who: 'user', paths: inConsole('/members') },
  ...(['remove', 'role'] as const).map(
    (step) =>
      ({
        pattern: `/console/:slug/members/:id/${step}`,
        who: 'user',
        paths: (world: StockedWorld) => inConsole(`/members/${world.member.id}/${step}`)(world),
      }) as const,
  ),
  {
    pattern: '/console/:slug/leave',
    who: 'user',
    paths: ({ app, joinedApp }) => [app, joinedApp].map(({ slug }) => `/console/${slug}/leave`),
  },
  {
    pattern: '/console/:slug/invitations/:id',
    who: 'user',
    paths: (world) => inConsole(`/invitations/${world.invitation.id}`)(world),
  },
  {
    pattern: '/console/:slug/invitations/:id/revoke',
    who: 'user',
    paths: (world) => inConsole(`/invitations/${world.invitation.id}/revoke`)(world),
  },
  {
    pattern: '/console/:slug/settings',
    who: 'user',
    // The name of an app that is live is not changed there.
    paths: ({ app, newApp }) => [app, newApp].map(({ slug }) => `/console/${slug}/settings`),
  },
  { pattern: '/console/:slug/transfer', who: 'user', paths: inConsole('/transfer') },
  { pattern: '/console/:slug/delete', who: 'user', paths: inConsole('/delete') },
  {
    pattern: '/invitation',
    who: 'user',
    paths: ({ ownInvitation }) => [`/invitation?link=${ownInvitation}`],
    isForEverybody: true,
  },
  { pattern: '/console/:slug/trail', who: 'user', paths: inConsole('/trail', '/trail?action=install.rejected') },
  { pattern: '/desk', who: 'operator', paths: () => ['/desk'], leadsOn: true },
  { pattern: '/desk/reviews', who: 'operator', paths: () => ['/desk/reviews'] },
  {
    pattern: '/desk/reviews/decided',
    who: 'operator',
    paths: () => ['/desk/reviews/decided', '/desk/reviews/decided?outcome=rejected'],
  },
  {
    pattern: '/desk/reviews/:slug/:version',
    who: 'operator',
    paths: inReviews('1.1.0', '1.2.0', '1.3.0', '2.0.0', `2.1.0-${'long.'.repeat(8)}1`),
  },
  { pattern: '/desk/reviews/:slug/:version/manifest', who: 'operator', paths: inReviews('2.0.0/manifest') },
  { pattern: '/desk/reviews/:slug/:version/files', who: 'operator', paths: inReviews('2.0.0/files') },
  {
    pattern: '/desk/reviews/:slug/:version/files/text',
    who: 'operator',
    paths: inReviews('2.0.0/files/text?path=index.js'),
  },
  {
    pattern: '/desk/reviews/:slug/:version/icon',
    who: 'operator',
    paths: inReviews('2.0.0/icon'),
    isDownload: true,
  },
  {
    pattern: '/desk/reviews/:slug/:version/artifact',
    who: 'operator',
    paths: inReviews('2.0.0/artifact'),
    isDownload: true,
  },
  {
    pattern: '/desk/installs',
    who: 'operator',
    paths: ({ app }) => ['/desk/installs', `/desk/installs?app=${app.slug}`],
  },
  {
    pattern: '/desk/reviews/:slug/:version/reject',
    who: 'operator',
    paths: inReviews('2.0.0/reject'),
  },
  {
    pattern: '/desk/installs/:id',
    who: 'operator',
    paths: ({ pendingInstallId }) => [`/desk/installs/${pendingInstallId}`],
    leadsOn: true,
  },
  {
    pattern: '/desk/installs/:id/reject',
    who: 'operator',
    paths: ({ pendingInstallId }) => [`/desk/installs/${pendingInstallId}/reject`],
  },
  {
    pattern: '/desk/installs/:id/deactivate',
    who: 'operator',
    paths: ({ openableInstallId }) => [`/desk/installs/${openableInstallId}/deactivate`],
  },
  { pattern: '/desk/apps/:slug/suspend', who: 'operator', paths: ({ app }) => [`/desk/apps/${app.slug}/suspend`] },
  {
    pattern: '/desk/users/:id/disable',
    who: 'operator',
    paths: ({ stranger, secondOperator }) => [
      `/desk/users/${stranger.id}/disable`,
      `/desk/users/${secondOperator.id}/disable`,
    ],
  },
  { pattern: '/desk/users/:id/reset-link', who: 'operator', paths: ofStranger('reset-link') },
  { pattern: '/desk/users/:id/reset-factors', who: 'operator', paths: ofStrangers('reset-factors') },
  { pattern: '/desk/users/:id/make-operator', who: 'operator', paths: ofStranger('make-operator') },
  {
    pattern: '/desk/users/:id/withdraw-operator',
    who: 'operator',
    paths: ({ secondOperator }) => [`/desk/users/${secondOperator.id}/withdraw-operator`],
  },
  { pattern: '/desk/apps', who: 'operator', paths: () => ['/desk/apps', '/desk/apps?q=nothing-has-this'] },
  {
    pattern: '/desk/apps/:slug',
    who: 'operator',
    paths: ({ app, suspendedApp, deletedApp }) =>
      [app, suspendedApp, deletedApp].map(({ slug }) => `/desk/apps/${slug}`),
  },
  { pattern: '/desk/users', who: 'operator', paths: () => ['/desk/users', '/desk/users?q=nobody-has-this'] },
  { pattern: '/desk/users/new', who: 'operator', paths: () => ['/desk/users/new'] },
  {
    pattern: '/desk/users/:id',
    who: 'operator',
    paths: (world) =>
      [world.stranger, world.operator, world.secondOperator, world.disabledUser].map(({ id }) => `/desk/users/${id}`),
  },
  {
    pattern: '/desk/users/:id/new-link',
    who: 'operator',
    paths: ({ stranger }) => [`/desk/users/${stranger.id}/new-link`],
  },
  {
    pattern: '/desk/audit',
    who: 'operator',
    paths: ({ app }) => ['/desk/audit', `/desk/audit?app=${app.slug}&action=version`, '/desk/audit?outcome=refused'],
  },
  { pattern: '/desk/webhooks', who: 'operator', paths: () => ['/desk/webhooks'] },
  { pattern: '/desk/webhooks/new', who: 'operator', paths: () => ['/desk/webhooks/new'] },
  ...['', '/secret', '/rotate', '/disable', '/remove'].map((part): Site => ({
    pattern: `/desk/webhooks/:id${part}`,
    who: 'operator',
    paths: () =>
      (part === '' ? [stockedEndpoint, disabledEndpoint] : [stockedEndpoint]).map(
        (id) => `/desk/webhooks/${id}${part}`,
      ),
  })),
  { pattern: '/desk/scopes', who: 'operator', paths: () => ['/desk/scopes'] },
  { pattern: '/desk/scopes/new', who: 'operator', paths: () => ['/desk/scopes/new'] },
  { pattern: '/desk/scopes/:name', who: 'operator', paths: () => [`/desk/scopes/${stockedScope}`] },
  { pattern: '/desk/scopes/:name/retire', who: 'operator', paths: () => [`/desk/scopes/${stockedScope}/retire`] },
  {
    pattern: '/desk/apps/:slug/settings/given-scopes/take',
    who: 'operator',
    paths: ({ app }) => [`/desk/apps/${app.slug}/settings/given-scopes/take?scope=${stockedScope}`],
  },
  { pattern: '/desk/service-keys', who: 'operator', paths: () => ['/desk/service-keys'] },
  { pattern: '/desk/service-keys/new', who: 'operator', paths: () => ['/desk/service-keys/new'] },
  {
    pattern: '/desk/service-keys/:id',
    who: 'operator',
    paths: ({ serviceKeyIds }) => serviceKeyIds.map((id) => `/desk/service-keys/${id}`),
  },
  ...['new', 'rotate', 'revoke', 'confirm'].map((step): Site => ({
    pattern: `/desk/service-keys/:id/${step}`,
    who: 'operator',
    paths: ({ serviceKeyIds: [live, , suspended] }) =>
      [live, suspended].map((id) => `/desk/service-keys/${id}/${step}`),
  })),
  { pattern: '/desk/health', who: 'operator', paths: () => ['/desk/health'] },
  { pattern: '/desk/backups', who: 'operator', paths: () => ['/desk/backups'] },
  { pattern: '/desk/backups/:name', who: 'operator', paths: () => ['/desk/backups/some.db'], leadsOn: true },
  { pattern: '/desk/quotas', who: 'operator', paths: () => ['/desk/quotas'] },
  { pattern: '/desk/settings', who: 'operator', paths: () => ['/desk/settings'] },
  {
    pattern: '/desk/installs/new',
    who: 'operator',
    paths: ({ app }) => ['/desk/installs/new', `/desk/installs/new?app=${app.slug}`],
  },
  { pattern: '/desk/apps/new', who: 'operator', paths: () => ['/desk/apps/new'] },
  ...[
    'transfer',
    'end-access',
    'delete',
    'settings',
    'settings/scopes',
    'settings/redirect-uris',
    'members',
    'webhooks',
  ]
    .concat('webhooks/new', 'credentials', 'credentials/ended')
    .map((part): Site => ({
      pattern: `/desk/apps/:slug/${part}`,
      who: 'operator',
      paths: ({ app, suspendedApp }) => [app, suspendedApp].map(({ slug }) => `/desk/apps/${slug}/${part}`),
    })),
  {
    pattern: '/desk/apps/:slug/credentials/new',
    who: 'operator',
    paths: ({ app }) => [`/desk/apps/${app.slug}/credentials/new`],
    leadsOn: true,
    isForEverybody: true,
  },
  ...['', '/disable', '/remove', '/rotate', '/secret', '/edit'].map((part): Site => ({
    pattern: `/desk/apps/:slug/webhooks/:id${part}`,
    who: 'operator',
    paths: ({ app, endpointIds }) =>
      endpointIds.slice(0, part === '' ? 3 : 1).map((id) => `/desk/apps/${app.slug}/webhooks/${id}${part}`),
  })),
  {
    pattern: '/desk/apps/:slug/webhooks/:id/attempts/:attempt',
    who: 'operator',
    paths: ({ app, attemptPaths }) => attemptPaths.map((path) => `/desk/apps/${app.slug}${path}`),
  },
  ...['remove', 'role'].map((step): Site => ({
    pattern: `/desk/apps/:slug/members/:id/${step}`,
    who: 'operator',
    paths: ({ app, member }) => [`/desk/apps/${app.slug}/members/${member.id}/${step}`],
  })),
  {
    pattern: '/desk/apps/:slug/invitations/:id/revoke',
    who: 'operator',
    paths: ({ app, invitation }) => [`/desk/apps/${app.slug}/invitations/${invitation.id}/revoke`],
  },
  {
    pattern: '/desk/apps/:slug/settings/redirect-uris/remove',
    who: 'operator',
    paths: ({ app }) => [
      `/desk/apps/${app.slug}/settings/redirect-uris/remove?${new URLSearchParams({ environment: 'development', uri: app.redirectUri }).toString()}`,
    ],
  },
  {
    pattern: '/desk/apps/:slug/credentials/rotate',
    who: 'operator',
    paths: ({ app }) => [`/desk/apps/${app.slug}/credentials/rotate?environment=production`],
  },
  ...['revoke', 'confirm', 'secret'].map((step): Site => ({
    pattern: `/desk/apps/:slug/credentials/:id/${step}`,
    who: 'operator',
    paths: ({ app, liveSecretId, strangersApp, suspendedSecretId }) => [
      `/desk/apps/${app.slug}/credentials/${liveSecretId}/${step}`,
      `/desk/apps/${strangersApp.slug}/credentials/${suspendedSecretId}/${step}`,
    ],
  })),
  ...['edit', 'end-access', 'confirm'].map((part): Site => ({
    pattern: `/desk/users/:id/${part}`,
    who: 'operator',
    paths: ofStrangers(part),
  })),
]

/** Refusals, which are pages too. */
export const refusals: readonly {
  readonly who: Who
  readonly path: (world: StockedWorld) => string
  readonly status: number
}[] = [
  { who: 'visitor', path: () => '/nowhere', status: 404 },
  { who: 'user', path: () => '/nowhere', status: 404 },
  { who: 'user', path: () => '/desk', status: 404 },
  { who: 'user', path: () => '/desk/audit', status: 404 },
  { who: 'operator', path: () => '/desk/audit?since=yesterday', status: 400 },
  { who: 'operator', path: () => '/desk/reviews/nowhere/1.0.0', status: 404 },
  { who: 'operator', path: () => '/desk/users/usr_nobody', status: 404 },
  { who: 'user', path: ({ pendingInstallId }) => `/installs/${pendingInstallId}/open`, status: 404 },
  { who: 'user', path: ({ strangersApp }) => `/console/${strangersApp.slug}`, status: 404 },
  { who: 'user', path: (world) => askPath(world, { client_id: 'apcl_nobody' }), status: 400 },
  { who: 'user', path: (world) => askPath(world, { redirect_uri: 'https://elsewhere.example/' }), status: 400 },
]
