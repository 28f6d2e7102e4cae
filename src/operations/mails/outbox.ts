import type { Mail, Queries } from '../../../db/database.ts'
import { isNews, isOperatorMail, linkMails, type MailKind, mailToldBy, teamMails } from '../../domain/mail.ts'
import type { AuditFacts, AuditStamp } from '../audit/event.ts'

/** A mail that an operation asks for itself: only it knows that the action is worth one, or where it goes. It asks for none with null. */
export type AskedMail = { readonly kind: MailKind; readonly to: string | null }

/**
 * Writes the mail that tells an action, if one does, in the transaction of the action. Its ID has the digits of the audit event. It is
 * made when it is sent, so a link in it exists only there and as a hash. What has happened is told to the address that the person had
 * then, or a thief who changes it next would get the warnings.
 */
export const tellByMail = async (
  q: Queries,
  { id, at }: AuditStamp,
  facts: AuditFacts,
  asked: AskedMail | null | undefined,
): Promise<void> => {
  if (facts.refusedWith !== undefined) return
  const kind = asked === undefined ? mailToldBy(facts.action, facts.environment ?? null) : asked?.kind
  if (kind === null || kind === undefined) return
  const userId = await recipientId(q, kind, facts)
  const user = userId === null || linkMails.includes(kind) || isNews(kind) ? null : await q.users.byId(userId)
  const address = asked?.to ?? user?.email ?? null
  await q.mails.insert({ ...unsentMail(id.replace(/^aud_/, 'eml_'), kind, at), userId, address })
}

/** A mail that was never tried, to whom its kind says. It is sent when it is due. */
export const unsentMail = (id: string, kind: MailKind, createdAt: number, dueAt = createdAt): Mail => ({
  id,
  kind,
  userId: null,
  address: null,
  state: 'pending',
  attempts: 0,
  nextAttemptAt: dueAt,
  fault: null,
  createdAt,
})

const recipientId = async (
  q: Queries,
  kind: MailKind,
  { actor, appId, target, told }: AuditFacts,
): Promise<string | null> => {
  if (isNews(kind)) return kind === 'install_decided' ? (told?.userId ?? null) : null // the others are found when it is sent
  if (teamMails[kind] !== undefined) return (await q.apps.byId(appId ?? ''))?.ownerId ?? null
  if (kind === 'app_invitation' || isOperatorMail(kind)) return null // whoever has the address, and all operators
  if (kind === 'new_device') return 'id' in actor ? actor.id : null
  return target ?? null
}
