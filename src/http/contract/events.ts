/** What each kind of webhook says: IDs and states, never a secret, a name or other personal data. */
import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { currentApiVersion } from '../../domain/api-version.ts'
import { environments } from '../../domain/app.ts'
import { resourceKinds } from '../../domain/resource.ts'
import { type Audience, builderKinds, type WebhookKind, webhookKinds } from '../../domain/webhook-event.ts'
import { count, nullable, nullableText, oneOf, recordId, text, time } from './fields.ts'

const always = <const T extends string>(value: T, description: string) =>
  Type.Literal(value, { description, examples: [value] })
const about = <T extends TProperties>(description: string, facts: T) =>
  Type.Object({ appId: recordId('app', 'The app.'), ...facts }, { description })

const userId = recordId('usr', 'The person.')
const installId = recordId('ins', 'The install.')
const versionId = recordId('ver', 'The version.')
const names = (description: string) => Type.Array(Type.String({ examples: ['site:read'] }), { description })
const place = {
  userId,
  kind: oneOf(resourceKinds, 'Website or store.'),
  resourceId: nullableText('The builder’s own ID of it; null if it has none.', '17'),
}
const approved = always('approved', 'Its approval.')
const inactive = always('inactive', 'Whether it works.')
const install = <T extends TProperties>(description: string, facts: T) =>
  about(description, { installId, ...place, ...facts })
const grant = <T extends TProperties>(description: string, facts: T) =>
  about(description, { grantId: recordId('grt', 'The grant.'), userId, ...facts })
const version = <const Status extends string>(description: string, status: Status) =>
  about(description, { versionId, status: always(status, 'Its status now.') })
const credential = <T extends TProperties>(description: string, facts: T) =>
  about(description, { credentialId: recordId('crd', 'The client secret; not its value.'), ...facts })
const revoked = { state: always('revoked', 'Its state now.') }

/** The data of each kind of event for apps. Its description says when it is sent. */
export const eventData = Type.Object({
  'install.created': install('A user requested an install.', {
    approval: oneOf(['pending', 'approved'], 'Its approval.'),
    state: oneOf(['inactive', 'active'], 'Whether it works.'),
  }),
  'install.approved': install('An install was approved and is active.', {
    approval: approved,
    state: always('active', 'Whether it works.'),
  }),
  'install.rejected': install('An install was rejected.', {
    approval: always('rejected', 'Its approval.'),
    state: inactive,
  }),
  'install.deactivated': install('An install has ended.', {
    approval: oneOf(['approved', 'withdrawn'], 'Withdrawn: it ended before the decision.'),
    state: inactive,
  }),
  'grant.created': grant('A user consented.', {
    state: always('live', 'Its state now.'),
    clientId: text('Client ID of the app in this environment.', 'apc_dev_0HqT3vXk9LmP2aZ7RwYb1c'),
    scope: text('Space-separated scope names.', 'site:read store:read'),
  }),
  'grant.scopes_changed': install('The scopes of a grant changed.', {
    approval: approved,
    state: always('active', 'Whether it works.'),
    added: names('Scopes that the app has now.'),
    withdrawn: names('Scopes that the app no longer has.'),
  }),
  'grant.revoked': grant('A user’s access was revoked.', revoked),
  'grant.reuse_detected': grant('A used code or token was presented again, and its grant has ended.', revoked),
  'resource.updated': about('A website or store with the app has changed.', { installId, ...place }),
  'resource.removed': about('A website or store with the app was removed.', { installId, ...place }),
  'user.erased': about('A person was erased: delete what you have about them.', { userId }),
  'version.submitted': version('A version was submitted for review.', 'submitted'),
  'version.approved': version('A version was approved.', 'approved'),
  'version.rejected': version('A version was rejected.', 'rejected'),
  'version.withdrawn': version('A version was withdrawn before its review.', 'draft'),
  'version.activated': version('A version went live.', 'active'),
  'version.superseded': about('A version is no longer live because another one replaced it.', {
    versionId,
    status: always('superseded', 'Its status now.'),
    replacedByVersionId: recordId('ver', 'The version that is live now.'),
  }),
  'version.rolled_back': about('A rollback made a version current again.', {
    versionId,
    rollbackId: recordId('rbk', 'The rollback.'),
    fromVersionId: recordId('ver', 'The version that was live before.'),
  }),
  'credential.created': credential('A client secret was created.', { status: always('live', 'Its status now.') }),
  'credential.rotated': credential('A client secret was rotated.', {
    status: always('live', 'Its status now.'),
    graceHours: count('For how many hours the one before still works.', 24),
  }),
  'credential.revoked': credential('A client secret was revoked.', { status: always('ended', 'Its status now.') }),
  'app.suspended': about('An operator suspended the app.', { status: always('suspended', 'Its status now.') }),
  'app.activated': about('An operator activated the app again.', { status: always('active', 'Its status now.') }),
  'webhook.disabled': about('An endpoint was disabled.', {
    endpointId: recordId('whk', 'The endpoint.'),
    status: always('disabled', 'Its status now.'),
    reason: text('Why.', 'gone'),
  }),
  'api_version.deprecated': about('A version of the API will be switched off.', {
    apiVersion: text('The version.', '2026-08'),
    deprecatedAt: time('Since when it is deprecated.'),
    sunsetAt: Type.Optional(time('When it is no longer served.')),
  }),
  ping: about('A test. It is sent even if you do not choose it.', { endpointId: recordId('whk', 'The endpoint.') }),
} satisfies Record<WebhookKind, TSchema>)

const userExternalId = nullableText(
  'The builder’s own ID of the person; null if it has none, or is no longer known.',
  '42',
)
const ofPerson = <T extends TProperties>(description: string, facts: T) =>
  Type.Object({ userId, userExternalId, ...facts }, { description })
const status = <const Status extends string>(value: Status) => ({ status: always(value, 'The status now.') })
/** An event that apps hear too; the builder also gets its own ID of the person. */
const asApps = (kind: WebhookKind): TSchema => {
  const { properties, description = '' } = eventData.properties[kind]
  return Type.Object('userId' in properties ? { ...properties, userExternalId } : properties, { description })
}

const builderData: Readonly<Record<(typeof builderKinds)[number], TSchema>> = {
  'install.created': asApps('install.created'),
  'install.approved': asApps('install.approved'),
  'install.rejected': asApps('install.rejected'),
  'install.deactivated': asApps('install.deactivated'),
  'grant.created': asApps('grant.created'),
  'grant.scopes_changed': asApps('grant.scopes_changed'),
  'grant.revoked': asApps('grant.revoked'),
  'grant.reuse_detected': asApps('grant.reuse_detected'),
  'app.created': about('An app was created.', {
    ...status('active'),
    ownerId: recordId('usr', 'The publisher of the app.'),
  }),
  'app.renamed': about('The name of an app changed.', {}),
  'app.scopes_changed': about('What an app may ask for changed.', {
    added: names('Scopes that it may ask for now.'),
    withdrawn: names('Scopes that it may no longer ask for.'),
  }),
  'app.suspended': asApps('app.suspended'),
  'app.activated': asApps('app.activated'),
  'app.transferred': about('An app has another publisher.', {
    from: recordId('usr', 'The publisher before.'),
    to: recordId('usr', 'The publisher now.'),
  }),
  'app.deleted': about('An app was deleted.', status('deleted')),
  'app.undeleted': about('A deleted app was restored.', status('suspended')),
  'version.submitted': asApps('version.submitted'),
  'version.approved': asApps('version.approved'),
  'version.rejected': asApps('version.rejected'),
  'version.withdrawn': asApps('version.withdrawn'),
  'version.activated': asApps('version.activated'),
  'version.superseded': asApps('version.superseded'),
  'version.rolled_back': asApps('version.rolled_back'),
  'user.created': ofPerson('A person was created.', status('active')),
  'user.changed': ofPerson('Facts about a person changed.', { fields: names('What changed; not its value.') }),
  'user.disabled': ofPerson('A person was disabled.', status('disabled')),
  'user.enabled': ofPerson('A person was enabled again.', status('active')),
  'user.erased': ofPerson('A person was erased.', status('erased')),
  ping: Type.Object(
    { endpointId: recordId('whk', 'The endpoint.') },
    { description: 'A test. It is sent even if you do not choose it.' },
  ),
}

const event = (kind: string, environment: TSchema, data: TSchema) =>
  Type.Object(
    {
      id: recordId('evt', 'The event; the same in every repeat of the delivery.'),
      type: always(kind, 'Kind of event.'),
      timestamp: time('When it happened.'),
      apiVersion: text('Version of the contract.', currentApiVersion),
      environment,
      data,
    },
    { description: data.description ?? '' },
  )

/** The whole body of each kind of event, by who hears it. */
export const eventBodies: Readonly<Record<Audience, ReadonlyMap<string, TSchema>>> = {
  app: new Map(
    webhookKinds.map((kind) => [
      kind,
      event(kind, oneOf(environments, 'Environment of the endpoint.'), eventData.properties[kind]),
    ]),
  ),
  builder: new Map(
    builderKinds.map((kind) => [
      kind,
      event(
        kind,
        nullable(
          oneOf(environments, 'Environment of the app.'),
          'Environment of the app; null if it is about both or none.',
        ),
        builderData[kind],
      ),
    ]),
  ),
}
