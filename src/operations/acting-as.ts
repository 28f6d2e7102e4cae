import type { App, Database, Queries, TransactionOptions } from '../../db/database.ts'
import { whyInactive } from '../domain/app.ts'
import type { Awaitable } from '../domain/awaitable.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { RowKey } from '../domain/identifier.ts'
import { type AppRight, hasRight, type MemberRole } from '../domain/member.ts'
import { isSessionLive } from '../domain/session.ts'
import { isAppTokenLive } from '../domain/token.ts'
import { actorOf, type AppCaller, type ServiceCaller, type SessionCaller, whyRefused } from './authenticate.ts'
import { type OpenChange, prepareChange } from './decide.ts'
import type { Platform, Trace } from './platform.ts'
import { refusedBearer, type Trail } from './refused-token.ts'

/** A condition of a change, checked in its transaction. Null if it holds, otherwise the refusal. */
export type Condition = (q: Queries) => Promise<PlatformError | null>

/**
 * The same for what a user does. It is asked about the user whose session acts, so that no caller can name another one, and about
 * what they act as: a rule about an app asks members for a right in it. Operators have every right in every app that is not deleted.
 */
export type Rule = (q: Queries, userId: string, as?: AppStanding) => Promise<PlatformError | null>

/** What somebody acts as in an app. */
export type AppStanding = 'member' | 'operator'

type Authority = {
  readonly may?: Rule
  /** The single-use ticket of the submitted form. */
  readonly ticket?: RowKey
}

/**
 * The platform as a signed-in user may use it for one operation. Every transaction first checks that the session is live. The
 * first one also checks that the user may make the change, and spends the ticket of the form. So an operation that knows
 * nothing of sessions is safe to call for a user: it does not begin after a lost right, it stops after a sign-out, and a form
 * that is sent twice acts once. A refusal leaves its audit event and nothing else. If the operation itself refuses, the ticket
 * stays spent.
 * @throws from its transactions: login_required, idempotency_key_reused for a spent ticket, and the refusal of `may`
 */
export const actingAs = (
  platform: Platform,
  trace: Trace,
  session: SessionCaller,
  authority: Authority = {},
): Platform =>
  checkingFirst(platform, () => {
    const open = prepareChange(platform, trace, actorOf(session))
    return {
      each: async (q) => await refusalIfEnded(platform, open(q), session),
      first: async (q) => await refusalOf(open(q), session.user.id, authority),
    }
  })

/** What is checked before the transactions of one operation. It is made ready outside of them. */
type Checks = {
  /** Before each transaction: the caller still exists. */
  readonly each: Condition
  /**
   * Before the first one only: the caller may do this. An operation in several transactions changes what its own rule asks
   * about: of a deleted app nobody is a member. What has begun is brought to its end.
   */
  readonly first?: Condition
}

/**
 * The platform for one operation, whose transactions begin with checks. A refusal leaves what the check wrote, its audit event,
 * and nothing else.
 * @throws from its transactions: the refusal of a check
 */
export const checkingFirst = (platform: Platform, prepare: () => Checks): Platform => {
  const store = platform.database
  let hasBegun = false
  const transaction = async <T>(
    work: (q: Queries) => Awaitable<T>,
    { endsAccess, kind, isLong }: TransactionOptions<T> = {},
  ): Promise<T> => {
    const { each, first } = prepare()
    const check: Condition = async (q) => (await each(q)) ?? (hasBegun ? null : ((await first?.(q)) ?? null))
    const outcome = await store.transaction(
      async (q): Promise<Acted<T>> => {
        const refusal = await check(q)
        return refusal === null ? { kind: 'done', value: await work(q) } : { kind: 'refused', refusal }
      },
      {
        kind,
        isLong,
        endsAccess: endsAccess && ((found) => found.kind === 'done' && endsAccess(found.value)),
      },
    )
    if (outcome.kind === 'refused') throw outcome.refusal
    hasBegun = true
    return outcome.value
  }
  return { ...platform, database: withTransaction(store, transaction) }
}

/**
 * The platform as an app may use it for one operation. Every transaction first checks that its token is still live, so nothing
 * changes after a revocation that has been answered, and the first one that the rule holds.
 * @throws from its transactions: invalid_token, and the refusal of the rule
 */
export const actingAsApp = (platform: Platform, trace: Trace, caller: AppCaller, rule: Condition): Platform =>
  checkingFirst(platform, () => {
    const open = prepareChange(platform, trace, actorOf(caller))
    return { each: async (q) => await refusalIfEnded(platform, open(q), caller), first: rule }
  })

/**
 * The platform as a service key may use it. Every transaction first checks that the key is still live and used from one of its
 * networks, so a call that was authenticated before a revocation changes nothing after it.
 * @throws from its transactions: invalid_token
 */
export const actingWithKey = (platform: Platform, trace: Trace, { id }: ServiceCaller): Platform =>
  checkingFirst(platform, () => {
    const open = prepareChange(platform, trace, refusedBearer.actor)
    const each: Condition = async (q) => {
      const { now, record } = open(q)
      const key = await q.serviceKeys.find(id)
      const because = key === null ? 'ended' : whyRefused(key, trace.address, now)
      if (because === null) return null
      await record({ ...refusedBearer, target: id, detail: { because }, refusedWith: 'invalid_token' })
      return refuse('invalid_token')
    }
    return { each }
  })

type Acted<T> =
  { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused'; readonly refusal: PlatformError }

/** The store with other transactions, also where its own are fixed: of an empty target nothing is. */
const withTransaction = (store: Database, transaction: Database['transaction']): Database =>
  new Proxy<Database>(Object.create(null), {
    get: (_, name) => {
      if (name === 'transaction') return transaction
      const member: unknown = Reflect.get(store, name)
      return typeof member === 'function' ? member.bind(store) : member
    },
  })

const refusalOf = async (change: OpenChange, userId: string, { may, ticket }: Authority) => {
  const refusal = (await may?.(change.q, userId)) ?? (ticket === undefined ? null : await spend(change, ticket))
  if (refusal !== null) await change.record({ action: 'page.change', refusedWith: refusal.code })
  return refusal
}

const spend = async ({ q, now }: OpenChange, ticket: RowKey): Promise<PlatformError | null> =>
  (await q.formTickets.spend(ticket, now)) ? null : refuse('idempotency_key_reused', { message: sentTwice })

const sentTwice = 'This form was sent before; nothing was done a second time.'

/** The app with this slug, and the role in it, as far as it exists for this user. An operator may do what an owner may. */
export const accessTo = async (
  q: Queries,
  slug: string,
  userId: string,
  as: AppStanding = 'member',
): Promise<{ readonly app: App; readonly role: MemberRole } | null> => {
  if (as === 'member') return await q.appMembers.access(userId, slug)
  const app = await q.apps.bySlug(slug)
  return app === null || app.deletedAt !== null ? null : { app, role: 'owner' }
}

/** Refuses unless the app with this slug exists for the user and their role in it has the right. */
export const mayInApp =
  (slug: string, right: AppRight): Rule =>
  async (q, userId, as) => {
    const found = await accessTo(q, slug, userId, as)
    return found === null ? refuse('route_not_found') : refusalOfRole(found.role, right)
  }

/**
 * The same, and for members the app is not suspended. A change that gives an app something new needs this rule; a change that only
 * takes something away (a secret, a redirect URI, a member) needs `mayInApp`.
 */
export const mayInActiveApp =
  (slug: string, right: AppRight): Rule =>
  async (q, userId, as) => {
    const found = await accessTo(q, slug, userId, as)
    if (found === null) return refuse('route_not_found')
    const isUsable = as === 'operator' || found.app.status === 'active'
    return refusalOfRole(found.role, right) ?? (isUsable ? null : whyInactive(found.app))
  }

/** Creating an app of one's own: everyone may, or only operators, as the server is set (APP_CREATION). */
export const mayCreateApps =
  ({ appCreation }: Pick<Platform, 'appCreation'>): Rule =>
  async (q, userId) => {
    const isAllowed = appCreation === 'everyone' || (await q.users.byId(userId))?.isOperator === true
    return isAllowed ? null : refuse('right_missing', { message: onlyOperatorsCreate })
  }

const onlyOperatorsCreate = 'Only operators create apps on this server. Ask one to create yours.'

/** Changing the name of an app: members may until a version of it is live. From then on users know it by the name that was reviewed. */
export const mayRename =
  (slug: string): Rule =>
  async (q, userId, as) => {
    const refused = await mayInActiveApp(slug, 'settings')(q, userId, as)
    if (refused !== null || as === 'operator') return refused
    const found = await accessTo(q, slug, userId, as)
    const isKnown = found !== null && (await q.versions.active(found.app.id)) !== null
    return isKnown ? refuse('version_not_eligible', { message: nameIsReviewed }) : null
  }

/** The same for its publisher. Members may also say who it is where nobody has said it yet. */
export const maySetPublisher =
  (slug: string): Rule =>
  async (q, userId, as) => {
    const isUnsaid = (await q.apps.bySlug(slug))?.publisher === null
    return await (isUnsaid ? mayInActiveApp(slug, 'settings') : mayRename(slug))(q, userId, as)
  }

/** Why members cannot rename an app that has a live version. */
export const nameIsReviewed =
  'Users know the app by this name since it was reviewed. Ask the operator of this server to change it.'

/** The refusal of a member whose role lacks the right; null if it has it. */
export const refusalOfRole = (role: MemberRole, right: AppRight): PlatformError | null =>
  hasRight(role, right) ? null : refuse('right_missing', { message: 'Your role in this app does not allow this.' })

/** The refusal of a rule for what only reads, from committed state; null while it holds. */
export const refusalNow = async ({ database }: Platform, userId: string, may: Rule): Promise<PlatformError | null> =>
  await may(database.queries, userId)

/** Refuses unless the user is an operator. To others the desk does not exist. */
export const isOperator: Rule = async (q, userId) =>
  (await q.users.byId(userId))?.isOperator === true ? null : refuse('route_not_found')

/** The rule for somebody who acts as an operator, which they must still be. */
export const ruleOfOperator =
  (may: Rule): Rule =>
  async (q, userId) =>
    (await isOperator(q, userId)) ?? (await may(q, userId, 'operator'))

/**
 * Reads the caller's state again inside the transaction that writes, so that a revocation which has been answered stops a
 * write that was authenticated a moment earlier. Records the refusal. Null when the caller is still live.
 */
export const refusalIfEnded = async (
  { lifetimes }: Platform,
  { q, now, record }: OpenChange,
  caller: AppCaller | SessionCaller,
): Promise<PlatformError | null> => {
  if (await isStillLive(q, caller, now, lifetimes.sessionIdle)) return null
  const refusal = refuse(caller.kind === 'app' ? 'invalid_token' : 'login_required')
  const trail: Trail =
    caller.kind === 'app'
      ? { appId: caller.app.id, environment: caller.environment, target: caller.credentialId }
      : { target: caller.user.id }
  await record({ ...refusedBearer, ...trail, refusedWith: refusal.code })
  return refusal
}

const isStillLive = async (q: Queries, caller: AppCaller | SessionCaller, now: number, idleSeconds: number) => {
  if (caller.kind === 'app') {
    const found = await q.appTokens.find(caller.tokenKey)
    return found !== null && isAppTokenLive(found, now)
  }
  // The user first, as everywhere. On another machine both are asked for at once.
  const [, found] = await Promise.all([q.users.byId(caller.user.id), q.sessions.find(caller.sessionKey)])
  return found !== null && isSessionLive({ ...found.session, userStatus: found.user.status }, now, idleSeconds)
}
