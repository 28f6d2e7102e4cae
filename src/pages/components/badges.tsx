import type { ComponentChildren } from 'preact'
import type { AppStatus, Environment } from '../../domain/app.ts'
import type { VersionStatus } from '../../domain/version.ts'
import type { AppInstall } from '../../operations/installs/lists.ts'

export type Tone = 'good' | 'waiting' | 'bad' | 'plain'

/** A short word about a state. The colour repeats what the word says. */
export const Badge = ({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
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
} as const satisfies Record<VersionStatus, readonly [Tone, string]>

export const VersionStatusBadge = ({ status }: { readonly status: VersionStatus }) => {
  const [tone, words] = versionStatusWords[status]
  return <Badge tone={tone}>{words}</Badge>
}

type InstallStatusProps = { readonly install: Pick<AppInstall, 'approval' | 'state'> }

/** The status of an install, for developers and operators. */
export const InstallStatusBadge = ({ install }: InstallStatusProps) => {
  const [tone, words] = wordsOf(install)
  return <Badge tone={tone}>{words}</Badge>
}

const wordsOf = ({ approval, state }: InstallStatusProps['install']): readonly [Tone, string] => {
  switch (approval) {
    case 'pending':
      return ['waiting', 'Waiting for approval']
    case 'rejected':
      return ['bad', 'Rejected']
    case 'withdrawn':
      return ['plain', 'Withdrawn']
    case 'approved':
      return state === 'active' ? ['good', 'Active'] : ['plain', 'Deactivated']
    default:
      return approval satisfies never
  }
}

export const environmentNames = { development: 'Development', production: 'Production' } as const satisfies Record<
  Environment,
  string
>

export const EnvironmentBadge = ({ environment }: { readonly environment: Environment }) => (
  <Badge tone={environment === 'development' ? 'waiting' : 'plain'}>{environmentNames[environment]}</Badge>
)
