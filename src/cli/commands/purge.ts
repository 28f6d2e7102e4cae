import type { Command } from 'commander'
import { purgeAll } from '../../operations/purge/purge.ts'
import { asOperator } from '../as-operator.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerRecord } from '../output.ts'

/** Between batches, so that a server beside gets its turn. */
const pauseMs = 5

export const addPurgeCommand = (program: Command): void => {
  operatorCommand(program, 'purge', 'Remove what has expired. A server does so by itself, once a minute.').action(purge)
}

const purge = async (flags: CommonFlags): Promise<void> => {
  const removed = await asOperator(flags, async ({ platform, trace }) => {
    let interrupted = false
    process.once('SIGINT', () => (interrupted = true))
    return await purgeAll(
      platform,
      trace,
      async () => await Bun.sleep(pauseMs),
      () => interrupted,
    )
  })
  answerRecord(flags, {
    appTokens: removed.app_tokens,
    sessions: removed.sessions,
    grants: removed.grants,
    devices: removed.devices,
    formTickets: removed.form_tickets,
    installSessionCodes: removed.install_session_codes,
    embeddedSessions: removed.embedded_sessions,
    retrySalts: removed.retry_salts,
    idempotencyKeys: removed.idempotency_keys,
    artifacts: removed.artifacts,
    webhookAttempts: removed.webhook_attempts,
    webhookEvents: removed.webhook_events,
    webhookSecrets: removed.webhook_secrets,
    anonymousRefusals: removed.anonymous_refusals,
    auditEvents: removed.audit_events,
  })
}
