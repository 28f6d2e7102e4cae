/** Everything that an endpoint can be told; it chooses some. A `ping` goes to the endpoint that is tested. */
export const webhookKinds = [
  'install.created',
  'install.approved',
  'install.rejected',
  'install.deactivated',
  'grant.created',
  'grant.scopes_changed',
  'grant.revoked',
  'grant.reuse_detected',
  'version.submitted',
  'version.approved',
  'version.rejected',
  'version.withdrawn',
  'version.activated',
  'version.superseded',
  'version.rolled_back',
  'credential.created',
  'credential.rotated',
  'credential.revoked',
  'app.suspended',
  'app.activated',
  'webhook.disabled',
  'api_version.deprecated',
  'ping',
] as const
export type WebhookKind = (typeof webhookKinds)[number]

export const isWebhookKind = (text: string): text is WebhookKind => webhookKinds.some((kind) => kind === text)

/** The most endpoints that an app may have in one environment. */
export const maximumEndpoints = 10

/** Kinds as they are stored: in the order of the list, each once, one space between. */
export const formatKinds = (kinds: readonly WebhookKind[]): string =>
  webhookKinds.filter((kind) => kinds.includes(kind)).join(' ')

/** Kinds read back from the store; what this program does not know is left out. */
export const parseStoredKinds = (text: string): readonly WebhookKind[] => text.split(' ').filter(isWebhookKind)
