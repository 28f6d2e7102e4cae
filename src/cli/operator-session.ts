import type { Database, WriteEvent } from '../../db/database.ts'
import { openDatabase } from '../../db/engine.ts'
import { systemUser } from '../../db/faults/system.ts'
import { migrations } from '../../db/migrations/index.ts'
import { ConfigError, programEnvironment, readCommandConfig } from '../config.ts'
import { recordId } from '../domain/identifier.ts'
import { type Actor, auditEvent } from '../operations/audit/event.ts'
import { createRefusalLog } from '../operations/audit/refusal-log.ts'
import { openClock, openRandom } from '../operations/clock.ts'
import { isLocalDemo, keptSettings } from '../operations/server-facts.ts'
import { recordMigration } from '../operations/health/health.ts'
import { decidingSettings } from '../domain/deciding-settings.ts'
import { localTrace, noNode, type Platform, type Trace } from '../operations/platform.ts'
import { createPasswords } from '../runtime/passwords.ts'
import { createRandom } from '../runtime/random.ts'
import { openWebhookSender } from '../runtime/webhook-sender.ts'
import type { CommonFlags } from './operator-command.ts'

/** The first arguments of every operation: the platform, opened by an operator at the terminal. */
export type OperatorSession = readonly [platform: Platform, trace: Trace, actor: Actor]

/**
 * The settings of a command: its own, and what it was not given as the server that started last had it. The command's alone if both do
 * not go together.
 */
export const settingsFor = async (database: Database): Promise<ReturnType<typeof readCommandConfig>> => {
  try {
    return readCommandConfig({}, programEnvironment(), await keptSettings(database))
  } catch (error) {
    if (error instanceof ConfigError) return readCommandConfig({})
    throw error
  }
}

/**
 * Opens the database, runs the work and closes it again; a server may be running. Does not create a database unless
 * asked to migrate: a misspelt path must not look like an empty platform.
 * @throws ConfigError, DatabaseUnusable, and what the work throws
 */
export const asOperator = async <T>(
  flags: CommonFlags,
  work: (session: OperatorSession) => Promise<T>,
  { migrate }: { readonly migrate: boolean } = { migrate: false },
): Promise<T> => {
  const place = readCommandConfig({ database: flags.database }).database
  const database = await openDatabase(place, { role: 'operator', migrate })
  try {
    const config = await settingsFor(database)
    const clock = await openClock(database)
    const platform: Platform = {
      database,
      clock,
      random: await openRandom(database, clock),
      passwords: createPasswords({ cost: 12 }),
      ...decidingSettings(config),
      publicUrl: config.publicUrl ?? `http://localhost:${config.port}`,
      webhooks: openWebhookSender(config.webhookNetworks, async () => await isLocalDemo(platform)),
      dailyBackups: null, // the server makes them
      mailer: config.sendsMails ? { trouble: () => null, givenUp: () => 0 } : null, // the server sends them
      observe: { issued: () => undefined, refused: () => undefined, reused: () => undefined },
      refusals: createRefusalLog(),
      running: new Set(),
      node: noNode,
    }
    const session: OperatorSession = [platform, localTrace(platform), operatorActor()]
    await recordMigration(...session)
    return await work(session)
  } catch (error) {
    throw database.explain(error)
  } finally {
    await database.close()
  }
}

/** Makes the audit events of a command on a stopped database, all with one request ID. */
const operatorEvents = (): WriteEvent => {
  const random = createRandom()
  const requestId = recordId('req_', random.uuid(Date.now()))
  return ({ at, idAt }, facts) =>
    auditEvent(
      { id: recordId('aud_', random.uuid(idAt)), at, requestId, address: 'local' },
      { actor: operatorActor(), ...facts },
    )
}

/** The operator at the terminal, by the name of their account on this machine. */
const operatorActor = (): Actor => ({ kind: 'operator', id: systemUser() })

/** The time of a command on a stopped database, and what builds its audit events. */
export const operatorMoment = () => ({ now: Date.now(), event: operatorEvents() })

/** The same with the migrations of a file. */
export const stoppedMoment = () => ({ migrations, ...operatorMoment() })
