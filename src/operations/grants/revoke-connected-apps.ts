import { environmentOfClientId } from '../../domain/identifier.ts'
import { auditEvent, auditStamp, followingStamp } from '../audit/event.ts'
import { decide, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import type { SessionCaller } from '../tokens/authenticate-session.ts'

/** Which of a user's apps: one, in its environment, or all there are. */
export type ConnectedAppChoice = { readonly kind: 'one'; readonly clientId: string } | { readonly kind: 'all' }

/**
 * Takes back everything that the caller has allowed an app, or all apps: every grant ends in one transaction, with its
 * codes and tokens, each with its own row in the audit. Once it has answered nothing of them works, also not a refresh
 * that was on its way. Gives how many grants ended.
 */
export const revokeConnectedApps = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  choice: ConnectedAppChoice,
): Promise<number> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const actor = { kind: 'user', id: caller.user.id } as const
  return await decide(platform.database, async (q) => {
    const ended = await q.grants.revokeOfUser(caller.user.id, choice.kind === 'one' ? choice.clientId : null, now)
    for (const [index, { id, appId, clientId }] of ended.entries()) {
      const about = { action: 'grant.revoked', appId, environment: environmentOfClientId(clientId), target: id }
      await q.audit.insert(auditEvent(followingStamp(stamp, index), { actor, ...about }))
    }
    return done(ended.length)
  })
}
