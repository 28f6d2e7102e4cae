import type { SignInRules } from '../../src/domain/sign-in-rules.ts'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../db/engine.ts'
import { isPostgresUrl } from '../../db/postgres/address.ts'
import { readConfig } from '../../src/config.ts'
import { defaultAuditRetention, defaultQuotas } from '../../src/domain/limits.ts'
import { defaultLifetimes } from '../../src/domain/lifetimes.ts'
import { createRefusalLog } from '../../src/operations/audit/refusal-log.ts'
import { noNode, type Platform } from '../../src/operations/platform.ts'
import { createClock, systemTime } from '../../src/runtime/clock.ts'
import { createPasswords } from '../../src/runtime/passwords.ts'
import { createRandom } from '../../src/runtime/random.ts'
import { openWebhookSender } from '../../src/runtime/webhook-sender.ts'
import { databaseOf } from './postgres.ts'
import { lastingFolder } from './temporary-folder.ts'

export const operator = { kind: 'operator', id: 'test' } as const
export const trace = { requestId: `req_${'0'.repeat(32)}`, address: 'local' } as const

export const passwordOnly: SignInRules = {
  ways: ['password'],
  handoverUrl: null,
  signOutUrl: null,
  passwordFor: 'everyone',
  providerName: 'the identity provider',
  createsUsers: false,
  linksByEmail: false,
  providerProof: 'auth_time',
  secondFactorFor: 'operators',
  strongWays: [],
  strongAcr: [],
}

let template: string | null = null

/** Creates a migrated, empty database by copying one, which takes a third of the time of the migrations. */
export const emptyDatabase = async (file: string): Promise<void> => {
  if (template === null) {
    template = join(lastingFolder(), 'template.db')
    await (await open(template)).close()
  }
  copyFileSync(template, file)
}

const open = async (database: string) =>
  await openDatabase(readConfig({ database }, {}).database, { role: 'operator', migrate: true })

/** The platform over the same database as a running server, as an operator command opens it. */
export const openAsOperator = async (file: string): Promise<Platform> => {
  const database = await databaseOf(file)
  if (database === file && !isPostgresUrl(file) && !existsSync(file)) await emptyDatabase(file)
  return platformOf(await open(database))
}
const platformOf = (database: Platform['database']): Platform => ({
  database,
  clock: createClock(systemTime, null),
  random: createRandom(),
  passwords: createPasswords({ cost: 4 }),
  lifetimes: defaultLifetimes,
  publicUrl: 'http://localhost',
  signIn: passwordOnly,
  appCreation: 'everyone',
  installApproval: 'manual',
  platformName: 'App Platform',
  builder: null,
  quotas: defaultQuotas,
  auditRetention: defaultAuditRetention,
  webhooks: openWebhookSender([], async () => false),
  mailer: null,
  dailyBackups: null,
  observe: { issued: () => undefined, refused: () => undefined, reused: () => undefined },
  refusals: createRefusalLog(),
  running: new Set(),
  node: noNode,
})
