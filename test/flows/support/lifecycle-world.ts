import { createApp } from '../../../src/operations/apps/apps.ts'
import { createCredential } from '../../../src/operations/credentials/credentials.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { PlatformError } from '../../../src/domain/errors.ts'
import { liveStack } from '../../../src/domain/version.ts'
import { listRollbacks } from '../../../src/operations/versions/lists.ts'
import { moveVersion } from '../../../src/operations/versions/move-version.ts'
import { call, type Json } from '../../support/call.ts'
import { operator, trace } from '../../support/operator.ts'
import { appToken, type Login, type World } from '../../support/world.ts'
import type { Command, LedgerRow, ModelApp, Told } from './lifecycle-model.ts'

/** An app with its developer, and an operator who acts without the server. */
export type RealApp = {
  readonly slug: string
  readonly id: string
  readonly token: string
  readonly url: string
  readonly platform: Platform
}

let counted = 0

/** No more than the model knows: an app and a token of its development credentials. */
export const freshApp = async ({ platform, server, user }: World, owner: Login = user): Promise<RealApp> => {
  const slug = `life-${(counted += 1)}`
  const { id } = await createApp(platform, trace, operator, {
    ownerEmail: owner.email,
    name: 'App',
    slug,
    scopes: 'site:read',
  })
  const environment = 'development'
  const credentials = await createCredential(platform, trace, operator, { slug, environment, label: null })
  return { slug, id, token: await appToken(server.url, credentials), url: server.url, platform }
}

/** An ID that no version has. */
const nobody = `ver_${'0'.repeat(32)}`

/** Gives the command to the platform, through HTTP where the contract has it. `ids` are those of the app's versions, by name. */
export const perform = async (app: RealApp, command: Command, ids: ReadonlyMap<string, string>): Promise<Told> => {
  switch (command.kind) {
    case 'create': {
      const { version, notes } = command
      const { status, body } = await call(app.url, 'POST', '/versions', { token: app.token, body: { version, notes } })
      return status === 201 ? 'created' : status === 200 ? 'replaced' : body.error.code
    }
    case 'step':
      return await step(app, command)
    case 'rollback':
      return await rollBack(app, command, ids)
    default:
      return command satisfies never
  }
}

const step = async ({ platform, slug }: RealApp, { version, step }: Extract<Command, { kind: 'step' }>) => {
  const rejection = step === 'reject' ? { message: 'No.', items: [] } : null
  try {
    return (await moveVersion(platform, trace, operator, { slug, version, step, rejection })).status
  } catch (error) {
    if (error instanceof PlatformError) return error.code
    throw error
  }
}

const rollBack = async (
  app: RealApp,
  { environment, target, dryRun }: Extract<Command, { kind: 'rollback' }>,
  ids: ReadonlyMap<string, string>,
): Promise<Told> => {
  const named =
    target === null
      ? {}
      : target.by === 'name'
        ? { version: target.version }
        : { versionId: ids.get(target.version) ?? nobody }
  const body = { environment, dryRun, ...named }
  const answer = await call(app.url, 'POST', '/versions/rollback', { token: app.token, body })
  if (answer.status !== 200) return answer.body.error.code
  const { rollback, version, distributionChanged } = answer.body
  const names = new Map([...ids].map(([name, id]) => [id, name]))
  if (rollback.dryRun !== dryRun || (rollback.id === null) !== dryRun) return 'a dry run is not told as one'
  if (rollback.environment !== environment) return 'another environment'
  if (distributionChanged !== (environment === 'production')) return 'the distribution is told wrongly'
  if (version.id !== rollback.toVersionId) return 'another version is shown'
  return `${names.get(rollback.fromVersionId)} to ${names.get(rollback.toVersionId)}`
}

/** The state of the app in the terms of the model, and the IDs of its versions by name. */
export const observe = async (
  app: RealApp,
): Promise<{
  readonly seen: ModelApp & { readonly live: string | null }
  readonly ids: ReadonlyMap<string, string>
}> => {
  const { body } = await call(app.url, 'GET', '/versions', { token: app.token, query: { limit: '100' } })
  const ids = new Map<string, string>(body.data.map(({ version, id }: Json) => [version, id]))
  const names = new Map([...ids].map(([name, id]) => [id, name]))
  const nameOf = (id: string | null) => (id === null ? null : (names.get(id) ?? `unknown ${id}`))
  const ledger = await listRollbacks(app.platform, app.id, { limit: 1_000, cursor: null })
  const seen = {
    versions: body.data.map((version: Json) => observed(version, body.current)).toReversed(),
    head: nameOf(body.current.development),
    live: nameOf(body.current.production),
    ledger: ledger.data
      .map(({ environment, from, to }): LedgerRow => ({ environment, from: from ?? '', to: to ?? '' }))
      .toReversed(),
    stack: await stackOf(app, nameOf),
  }
  return { seen, ids }
}

/** What production goes back to without a target, again and again, up to the live version. */
const stackOf = async ({ platform, id }: RealApp, nameOf: (id: string | null) => string | null) =>
  liveStack(await platform.database.queries.liveChanges.versionIds(id)).map((version) => nameOf(version) ?? '')

/** A record that contradicts itself is returned as it is, so that it equals no state of the model. */
const observed = (record: Json, current: Json) => {
  const { version, number, status, revision, notes, submittedAt, reviewedAt, activatedAt, rejection } = record
  const isHead = record.current.development === (current.development === record.id)
  const isLive = record.current.production === (current.production === record.id)
  if (!isHead || !isLive || (rejection === null) !== (status !== 'rejected')) return record
  const flags = { submitted: submittedAt !== null, reviewed: reviewedAt !== null, activated: activatedAt !== null }
  return { version, number, status, revision, notes, ...flags }
}
