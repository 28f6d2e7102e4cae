import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { auditStamp, followingStamp } from '../audit/event.ts'
import { decideToEnd, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'
import { announce } from '../webhooks/events.ts'

/** Which of a user's apps: one, in its environment, or all there are. */
export type ConnectedAppChoice = { readonly kind: 'one'; readonly clientId: string } | { readonly kind: 'all' }

/** More than anybody has by hand. Whoever has made thousands must not stop the server by taking them back. */
const atOnce = 500

/**
 * Takes back everything that the caller has allowed an app, or all apps: the grants end with their codes and tokens, in
 * one transaction (in several where they are more than hundreds), each with its own row in the audit. Once it has answered
 * nothing of them works, also not a refresh that was on its way. Gives how many grants ended.
 * @throws grant_not_found for an app that the caller has never allowed anything
 */
export const revokeConnectedApps = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  choice: ConnectedAppChoice,
): Promise<number> => {
  let total = 0
  let after = ''
  for (;;) {
    const ended = await revokeSome(platform, trace, caller, choice, after)
    total += ended.length
    if (ended.length < atOnce) return total
    after = ended.reduce((latest, id) => (id > latest ? id : latest), after)
  }
}

/** Ends the first grants after the ID, and gives their IDs. */
const revokeSome = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  choice: ConnectedAppChoice,
  after: string,
): Promise<readonly string[]> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const actor = { kind: 'user', id: caller.user.id } as const
  const clientId = choice.kind === 'one' ? choice.clientId : null
  return await decideToEnd(platform.database, async (q) => {
    const ended = await q.grants.revokeOfUser(caller.user.id, clientId, now, { after, limit: atOnce })
    if (ended.length === 0 && clientId !== null && !(await q.grants.wasGranted(caller.user.id, clientId))) {
      return refused(refuse('grant_not_found'))
    }
    for (const [index, grant] of ended.entries()) {
      const environment = environmentOfClientId(grant.clientId)
      const about = { actor, appId: grant.appId, environment, target: grant.id }
      await announce(q, followingStamp(stamp, index), { ...about, action: 'grant.revoked' })
    }
    return done(ended.map(({ id }) => id))
  })
}
