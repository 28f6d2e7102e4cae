// Who may do what in an app: the one table of rights. `operations/acting-as.ts` enforces it in every transaction.

/** The roles, the mightiest first. The account that an app belongs to (its publisher) is always an owner. */
export const memberRoles = ['owner', 'admin', 'developer'] as const
export type MemberRole = (typeof memberRoles)[number]

/** What an invitation offers: a role, or the app itself. */
export const offeredRoles = [...memberRoles, 'publisher'] as const
export type OfferedRole = (typeof offeredRoles)[number]

/** Every right in an app, with the least role that has it. */
const leastRoles = {
  /** See every page of the app, export what it shows, and install it for tests. */
  view: 'developer',
  /** Upload, submit, withdraw and roll back versions. */
  release: 'developer',
  /** Create, rotate and revoke development secrets. */
  developmentSecrets: 'developer',
  /** Send a ping to a webhook endpoint, and send events again. */
  resendEvents: 'developer',
  productionSecrets: 'admin',
  /** Change the name, scopes and redirect URIs of the app. */
  settings: 'admin',
  /** Add, change and remove webhook endpoints, and rotate their secrets. */
  webhooks: 'admin',
  /** Invite, change and remove admins and developers. */
  members: 'admin',
  /** The same for owners. */
  owners: 'owner',
  /** Decide whether development secrets may roll back production. */
  rollbackRule: 'owner',
  /** Offer the app to another person. */
  transfer: 'owner',
  delete: 'owner',
} as const satisfies Readonly<Record<string, MemberRole>>

export type AppRight = keyof typeof leastRoles

export const hasRight = (role: MemberRole, right: AppRight): boolean =>
  memberRoles.indexOf(role) <= memberRoles.indexOf(leastRoles[right])

/** The right that it takes to give somebody this role, or to take it away. */
export const rightOverRole = (role: OfferedRole): AppRight => {
  if (role === 'publisher') return 'transfer'
  return role === 'owner' ? 'owners' : 'members'
}

/** The right that it takes to create, rotate or revoke a secret of an environment. */
export const rightOverSecrets = (environment: 'development' | 'production'): AppRight =>
  environment === 'production' ? 'productionSecrets' : 'developmentSecrets'

/** How long an invitation works. */
export const invitationSeconds = 24 * 3600

/** The page that an invitation opens. The secret is in the query. */
export const invitationPath = '/invitation'

/** Why an invitation does not work, which only the invited account reads. */
export const deadInvitationWords = {
  unknown: 'The link of this invitation is incomplete, or so old that it is not known any more.',
  used: 'You have accepted this invitation before: the app is under Developers.',
  expired: 'This invitation is older than 24 hours.',
  ended: 'This invitation was revoked, or replaced by a newer one.',
  withdrawn: 'The person who invited you can no longer do so.',
  deleted: 'The app of this invitation was deleted.',
} as const

type Ended = { readonly endedAt: number | null; readonly expiresAt: number }

export const endOfInvitation = (
  { endedAt, expiresAt }: Ended,
  now: number,
  of: { readonly exists: boolean; readonly isMember: boolean },
) => {
  if (!of.exists) return 'deleted'
  if (endedAt !== null) return of.isMember ? 'used' : 'ended'
  return expiresAt <= now ? 'expired' : 'withdrawn'
}

/** What anybody else reads who has the link of one that works. */
export const invitationOfAnother =
  'This invitation is for another email address than yours. Sign out, then sign in with the address that was invited.'
