import type { Queries } from '../../../db/database.ts'
import { mailToldBy } from '../../domain/mail.ts'
import type { AuditFacts, AuditStamp } from '../audit/event.ts'

/**
 * Writes the mail that tells an action, if one does, in the transaction of the action. Its ID has the digits of the audit event. It is
 * made when it is sent, so a link in it exists only there and as a hash.
 */
export const tellByMail = async (q: Queries, { id, at }: AuditStamp, facts: AuditFacts): Promise<void> => {
  const kind = facts.refusedWith === undefined ? mailToldBy(facts.action) : null
  if (kind === null) return
  await q.mails.insert({
    id: id.replace(/^aud_/, 'eml_'),
    kind,
    userId: facts.target ?? null,
    address: null,
    state: 'pending',
    attempts: 0,
    nextAttemptAt: at,
    fault: null,
    createdAt: at,
  })
}
