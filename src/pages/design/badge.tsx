import type { ComponentChildren } from 'preact'
import type { AppStatus, Environment } from '../../domain/app.ts'
import type { VersionStatus } from '../../domain/version.ts'
import type { TeamMember } from '../../operations/apps/members.ts'
import type { AppInstall } from '../../operations/installs/lists.ts'
import { roleWords } from '../words.ts'

type Tone = 'good' | 'waiting' | 'bad' | 'plain'

/** A short word about a state. The colour repeats what the word says. */
export const Badge = ({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** What a badge says about a state, and its colour. */
export type BadgeWords = readonly [Tone, string]

/** A badge from a table of states. */
export const StateBadge = ({ of: [tone, words] }: { readonly of: BadgeWords }) => <Badge tone={tone}>{words}</Badge>

/** The role of a member of an app. */
export const MemberBadges = ({ member: { role, isPublisher, status } }: { readonly member: TeamMember }) => (
  <>
    <Badge>{roleWords[role][0]}</Badge> {isPublisher ? <Badge>Publisher</Badge> : null}{' '}
    {status === 'active' ? null : <Badge tone="bad">Disabled</Badge>}
  </>
)

type AppStatusBadgeProps = {
  readonly status: AppStatus
  /** When the app was deleted; null or omitted for one that exists. */
  readonly deletedAt?: number | null
}

export const AppStatusBadge = ({ status, deletedAt = null }: AppStatusBadgeProps) => {
  if (deletedAt !== null) return <Badge tone="bad">Deleted</Badge>
  return <Badge tone={status === 'active' ? 'good' : 'bad'}>{status === 'active' ? 'Active' : 'Suspended'}</Badge>
}

/** The name of each version status, for developers and operators. */
export const versionStatusWords = {
  draft: ['plain', 'Draft'],
  submitted: ['waiting', 'Waiting for review'],
  approved: ['good', 'Approved, not live'],
  active: ['good', 'Live'],
  superseded: ['plain', 'Superseded'],
  rejected: ['bad', 'Rejected'],
} as const satisfies Record<VersionStatus, BadgeWords>

export const VersionStatusBadge = ({ status }: { readonly status: VersionStatus }) => (
  <StateBadge of={versionStatusWords[status]} />
)

type InstallStatusProps = { readonly install: Pick<AppInstall, 'approval' | 'state'> }

/** The status of an install, for developers and operators. */
export const InstallStatusBadge = ({ install: { approval, state } }: InstallStatusProps) => {
  if (approval !== 'approved') return <StateBadge of={approvalWords[approval]} />
  return <StateBadge of={state === 'active' ? ['good', 'Active'] : ['plain', 'Uninstalled']} />
}

/** The name of each decision about an install. */
const approvalWords = {
  pending: ['waiting', 'Waiting for approval'],
  approved: ['good', 'Approved'],
  rejected: ['bad', 'Rejected'],
  withdrawn: ['plain', 'Withdrawn'],
} as const satisfies Record<AppInstall['approval'], BadgeWords>

export const environmentNames = { development: 'Development', production: 'Production' } as const satisfies Record<
  Environment,
  string
>

export const EnvironmentBadge = ({ environment }: { readonly environment: Environment }) => (
  <Badge tone={environment === 'development' ? 'waiting' : 'plain'}>{environmentNames[environment]}</Badge>
)
