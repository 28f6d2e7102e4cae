import { currentApiVersion } from './api-version.ts'
import { type Environment, environments } from './app.ts'
import type { ResourceKind } from './resource.ts'

const ofInstallsAndGrants = [
  'install.created',
  'install.approved',
  'install.rejected',
  'install.deactivated',
  'grant.created',
  'grant.scopes_changed',
  'grant.revoked',
  'grant.reuse_detected',
] as const
const ofVersions = [
  'version.submitted',
  'version.approved',
  'version.rejected',
  'version.withdrawn',
  'version.activated',
  'version.superseded',
  'version.rolled_back',
] as const

/** Every kind of event; an endpoint chooses some. A `ping` goes only to the endpoint that is tested. */
export const webhookKinds = [
  ...ofInstallsAndGrants,
  'resource.updated',
  'resource.removed',
  'user.erased',
  ...ofVersions,
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

const isWebhookKind = (text: string): text is WebhookKind => webhookKinds.some((kind) => kind === text)

/** What the builder's own endpoints can hear of all apps. */
export const builderKinds = [
  ...ofInstallsAndGrants,
  'app.created',
  'app.renamed',
  'app.scopes_changed',
  'app.suspended',
  'app.activated',
  'app.transferred',
  'app.deleted',
  'app.undeleted',
  ...ofVersions,
  'user.created',
  'user.changed',
  'user.disabled',
  'user.enabled',
  'user.erased',
  'ping',
] as const
type BuilderKind = (typeof builderKinds)[number]
const isBuilderKind = (text: string): text is BuilderKind => builderKinds.some((kind) => kind === text)

/** Whose an endpoint is. */
export type Audience = 'app' | 'builder'
type EventKind = WebhookKind | BuilderKind

/** The kinds that an endpoint can choose. */
export const kindsFor: Readonly<Record<Audience, readonly EventKind[]>> = { app: webhookKinds, builder: builderKinds }
const isKindFor = { app: isWebhookKind, builder: isBuilderKind } as const
/** Those of the texts that are kinds of this audience. */
export const kindsAmong = (texts: readonly string[], audience: Audience): readonly EventKind[] =>
  texts.filter((text): text is EventKind => isKindFor[audience](text))

/** The most endpoints of an app in one environment. */
export const maximumEndpoints = 10

/** Whoever chooses every kind also gets the kinds of later releases. An older program ignores this word. */
const everyKind = '*'

/** Whether these are all kinds. */
export const isEveryKind = (kinds: readonly EventKind[], audience: Audience): boolean =>
  kindsFor[audience].every((kind) => kinds.includes(kind))

/** Kinds in the form of the store: in the order of the list, without repeats, separated by one space. */
export const formatKinds = (kinds: readonly EventKind[], audience: Audience): string =>
  [
    ...(isEveryKind(kinds, audience) ? [everyKind] : []),
    ...kindsFor[audience].filter((kind) => kinds.includes(kind)),
  ].join(' ')

/** Kinds from the store; those that this program does not know are left out. */
export const parseStoredKinds = (text: string, audience: Audience): readonly EventKind[] => {
  const words = text.split(' ')
  return words.includes(everyKind) ? kindsFor[audience] : kindsAmong(words, audience)
}

/** The parts of an audit event that decide about webhook events. `detail` is JSON. */
export type AuditFact = {
  readonly id: string
  readonly appId: string | null
  readonly environment: Environment | null
  readonly action: string
  readonly target: string | null
  readonly outcome: 'done' | 'refused'
  readonly detail: string | null
}

/** IDs and states; never a secret, a name or other personal data. */
type WebhookData = Readonly<Record<string, string | number | null | readonly string[]>>

/** Further IDs of the person, and of the website or store as the builder calls it. */
export type ToldFacts = {
  readonly userId: string
  readonly kind?: ResourceKind
  /** Null if the builder has no ID for it. */
  readonly resourceId?: string | null
  /** For the builder: its own ID of the person; null if it has none. */
  readonly userExternalId?: string | null
}

/** One event for the endpoints of an app in one environment. */
export type ToldEvent = {
  readonly id: string
  readonly appId: string
  readonly environment: Environment
  readonly kind: WebhookKind
  readonly data: WebhookData
}

/** One event for the builder's endpoints, whose app and environment may be none. */
export type BuilderEvent = Pick<ToldEvent, 'id' | 'data'> & {
  readonly appId: string | null
  readonly environment: Environment | null
  readonly kind: BuilderKind
}

/** Refusals that are announced: a spent token was presented again, so its grant has ended. */
const toldRefusals = new Set(['grant.reuse_detected'])

/** Audit actions with another name in webhooks. */
const otherNames: ReadonlyMap<string, WebhookKind> = new Map([
  ['install.withdrawn', 'install.deactivated'], // the owner cancels before an operator has decided
  ['install.scopes_changed', 'grant.scopes_changed'], // the owner agrees to the scopes of the live version
])

/**
 * The events of a row of the audit; none for most rows. A row about the app as a whole gives one event in each environment.
 */
export const eventsToldBy = (fact: AuditFact, about?: ToldFacts): readonly ToldEvent[] => {
  const { appId } = fact
  if (appId === null || (fact.outcome === 'refused' && !toldRefusals.has(fact.action))) return []
  const places = fact.environment === null ? environments : [fact.environment]
  const told = newsOf(fact, about, isWebhookKind).flatMap((news) =>
    places.map((environment) => ({ news, environment })),
  )
  return told.map(({ news: { kind, data }, environment }, index) => ({
    id: eventId(fact.id, index),
    appId,
    environment,
    kind,
    data: Object.assign({ appId }, data),
  }))
}

/** IDs of the builder's events of an audit row come after those of its app. */
const firstOfBuilder = 8

/** The events of a row of the audit for the builder. */
export const builderEventsToldBy = (fact: AuditFact, about?: ToldFacts): readonly BuilderEvent[] => {
  const { appId, environment } = fact
  if (fact.outcome === 'refused' && !toldRefusals.has(fact.action)) return []
  return newsOf(fact, about, isBuilderKind).map(({ kind, data }, index) => ({
    id: eventId(fact.id, firstOfBuilder + index),
    appId,
    environment,
    kind,
    data: Object.assign(appId === null ? {} : { appId }, data),
  }))
}

/** An event that no audit row of the app stands for. `auditId` is that of a stamp which nothing else has. */
export const eventTold = (
  auditId: string,
  { appId, environment }: { readonly appId: string; readonly environment: Environment },
  { kind, data }: News,
): ToldEvent => ({ id: eventId(auditId, 0), appId, environment, kind, data: Object.assign({ appId }, data) })

export type News = { readonly kind: WebhookKind; readonly data: WebhookData }

const newsOf = <Kind extends EventKind>(
  fact: AuditFact,
  about: ToldFacts | undefined,
  isKind: (text: string) => text is Kind,
): readonly { readonly kind: Kind; readonly data: WebhookData }[] => {
  const kind = otherNames.get(fact.action) ?? fact.action
  if (!isKind(kind)) return []
  const detail = detailOf(fact)
  const superseded = replacedBy(kind, fact, detail, isKind)
  const own = { kind, data: { ...subjectOf(fact), ...about, ...stateOf(fact.action), ...shown(kind, detail) } }
  return superseded === null ? [own] : [superseded, own]
}

/** A version that goes live supersedes the one that was live. */
const replacedBy = <Kind extends EventKind>(
  kind: Kind,
  fact: AuditFact,
  detail: Detail,
  isKind: (text: string) => text is Kind,
) => {
  const versionId = kind === 'version.activated' ? detail['superseded'] : null
  const replaced: string = 'version.superseded'
  if (typeof versionId !== 'string' || !isKind(replaced)) return null
  return { kind: replaced, data: { versionId, status: 'superseded', replacedByVersionId: fact.target } }
}

const subjects: Readonly<Record<string, string>> = {
  install: 'installId',
  grant: 'grantId',
  version: 'versionId',
  credential: 'credentialId',
  webhook: 'endpointId',
  user: 'userId',
}

const subjectOf = ({ action, target }: AuditFact): WebhookData => {
  const name = subjects[action.split('.')[0] ?? '']
  return name === undefined ? {} : { [name]: target }
}

/** The state after each action. */
const states: Readonly<Record<string, WebhookData>> = {
  'install.created': { approval: 'pending', state: 'inactive' },
  'install.approved': { approval: 'approved', state: 'active' },
  'install.rejected': { approval: 'rejected', state: 'inactive' },
  'install.withdrawn': { approval: 'withdrawn', state: 'inactive' },
  'install.deactivated': { approval: 'approved', state: 'inactive' },
  'install.scopes_changed': { approval: 'approved', state: 'active' },
  'grant.created': { state: 'live' },
  'grant.scopes_changed': { state: 'live' },
  'grant.revoked': { state: 'revoked' },
  'grant.reuse_detected': { state: 'revoked' },
  'version.submitted': { status: 'submitted' },
  'version.withdrawn': { status: 'draft' },
  'version.approved': { status: 'approved' },
  'version.rejected': { status: 'rejected' },
  'version.activated': { status: 'active' },
  'credential.created': { status: 'live' },
  'credential.rotated': { status: 'live' },
  'credential.revoked': { status: 'ended' },
  'app.suspended': { status: 'suspended' },
  'app.activated': { status: 'active' },
  'app.created': { status: 'active' },
  'app.deleted': { status: 'deleted' },
  'app.undeleted': { status: 'suspended' },
  'user.created': { status: 'active' },
  'user.disabled': { status: 'disabled' },
  'user.enabled': { status: 'active' },
  'user.erased': { status: 'erased' },
  'webhook.disabled': { status: 'disabled' },
}

const stateOf = (action: string): WebhookData => states[action] ?? {}

/** The details of an audit event that may be sent. All others stay internal. */
const shownDetails: Partial<Record<EventKind, readonly string[]>> = {
  'app.created': ['ownerId'],
  'app.scopes_changed': ['added', 'withdrawn'],
  'app.transferred': ['from', 'to'],
  'user.changed': ['fields'],
  'install.created': ['approval', 'state'],
  'grant.created': ['clientId', 'scope'],
  'grant.scopes_changed': ['clientId', 'scope', 'added', 'withdrawn'],
  'version.rolled_back': ['rollbackId', 'fromVersionId'],
  'credential.rotated': ['graceHours'],
  'webhook.disabled': ['reason'],
  'api_version.deprecated': ['apiVersion', 'deprecatedAt', 'sunsetAt'],
}

const shown = (kind: EventKind, detail: Detail): WebhookData =>
  Object.fromEntries(
    (shownDetails[kind] ?? []).flatMap((name) => {
      const value = detail[name]
      return isShowable(value) ? [[name, value] as const] : []
    }),
  )

const isShowable = (value: unknown): value is string | number | readonly string[] =>
  typeof value === 'string' ||
  typeof value === 'number' ||
  (Array.isArray(value) && value.every((each) => typeof each === 'string'))

type Detail = Readonly<Record<string, unknown>>

const detailOf = ({ detail }: AuditFact): Detail => {
  const parsed: unknown = detail === null ? null : JSON.parse(detail)
  return typeof parsed === 'object' && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : {}
}

/**
 * The ID of a webhook event, made from the ID of its audit event, so that one leads to the other and the transaction
 * needs no randomness. Several events of one audit event differ in a digit that is equal in all rows of a transaction.
 */
const eventId = (auditId: string, index: number): string => {
  const uuid = auditId.slice(auditId.indexOf('_') + 1)
  const digit = Number.parseInt(uuid.charAt(countedDigit), 16) ^ index
  return `evt_${uuid.slice(0, countedDigit)}${digit.toString(16)}${uuid.slice(countedDigit + 1)}`
}
const countedDigit = 19

/** The body of a webhook, at most some hundred bytes. `at` is epoch milliseconds. */
export const webhookBody = (event: Omit<ToldEvent | BuilderEvent, 'appId'>, at: number): string =>
  JSON.stringify({
    id: event.id,
    type: event.kind,
    timestamp: new Date(at).toISOString(),
    apiVersion: currentApiVersion,
    environment: event.environment,
    data: event.data,
  })
