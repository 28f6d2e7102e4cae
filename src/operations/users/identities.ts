// Accounts of people at identity providers, linked and unlinked by an operator.

import type { User } from '../../../db/database.ts'
import { PlatformError } from '../../domain/errors.ts'
import { isForeignId } from '../../domain/identifier.ts'
import { issuerKey } from '../../domain/identity-claims.ts'
import { badInput, decide, type OpenChange, type Operation } from '../decide.ts'
import { personOf } from './find-user.ts'

type Place = { readonly email: string; readonly issuer: string }
type LinkedIdentity = {
  readonly user: User
  readonly issuer: string
  /** How many other people of the provider were linked to the account. They no longer are. */
  readonly replaced: number
}

/**
 * Links an account to a person at an identity provider. One person there has one account here, and one account one person.
 * Sessions stay.
 * @throws invalid_request for an unknown address, an issuer or a subject that is malformed, and a person who has another account
 */
export const linkIdentity: Operation<Place & { readonly subject: string }, LinkedIdentity> = async (
  platform,
  trace,
  actor,
  { email, subject, ...place },
) => {
  const issuer = issuerOf(place)
  if (!isForeignId('subject', subject))
    throw badInput('subject', 'A subject is 1 to 255 ASCII characters without control characters.')
  const now = platform.clock.now()
  return await decide(platform, trace, { actor, now }, async (change) => {
    const { q, record } = change
    const user = await personOf(q, { email })
    if (user instanceof PlatformError) return user
    const holder = await q.identities.find(issuer, subject)
    if (holder !== null && holder.userId !== user.id) return badInput('subject', otherAccount)
    const replaced = await unlink(change, user, issuer, subject)
    if (holder === null) {
      await q.identities.link({ issuer, subject, userId: user.id, createdAt: now })
      await record({ action: 'user.linked', target: user.id, detail: { way: 'oidc' } }) // the subject may tell who it is
    }
    return { user, issuer, replaced }
  })
}

const otherAccount =
  'Another account is linked to this person at the identity provider: unlink that one first, with app-platform user unlink.'

/**
 * Ends the link of an account to an identity provider: its person there no longer signs in, and no address links them to an account or
 * creates one for them until they are linked again. Sessions stay.
 * @throws invalid_request for an unknown address, a malformed issuer, and an account without such a link
 */
export const unlinkIdentity: Operation<Place, { readonly user: User; readonly issuer: string }> = async (
  platform,
  trace,
  actor,
  place,
) => {
  const issuer = issuerOf(place)
  return await decide(platform, trace, { actor, endsAccess: true }, async (change) => {
    const user = await personOf(change.q, place)
    if (user instanceof PlatformError) return user
    const ended = await unlink(change, user, issuer, null)
    return ended > 0 ? { user, issuer } : badInput('issuer', 'This account is not linked to this identity provider.')
  })
}

const issuerOf = ({ issuer }: Pick<Place, 'issuer'>): string => {
  const key = issuerKey(issuer)
  if (key === null) throw badInput('issuer', 'The issuer must be a URL that begins with https:// or http://.')
  return key
}

/** Unlinks the account from everybody at the provider but this subject. Returns from how many. */
const unlink = async ({ q, now, record }: OpenChange, { id }: User, issuer: string, spared: string | null) => {
  const others = (await q.identities.ofUser(id)).filter((each) => each.issuer === issuer && each.subject !== spared)
  for (const { subject } of others) await q.identities.end(issuer, subject, now)
  if (others.length > 0) await record({ action: 'user.unlinked', target: id })
  return others.length
}
