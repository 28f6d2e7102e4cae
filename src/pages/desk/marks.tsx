import type { AppStatus } from '../../domain/app.ts'
import type { UserStatus } from '../../domain/user.ts'
import type { VersionStatus } from '../../domain/version.ts'
import { Badge, type Tone } from '../components/badge.tsx'

/** What operators call each status of a version. */
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

export const AppStatusBadge = ({ status }: { readonly status: AppStatus }) => (
  <Badge tone={status === 'active' ? 'good' : 'bad'}>{status === 'active' ? 'Active' : 'Suspended'}</Badge>
)

type UserMarksProps = { readonly user: { readonly status: UserStatus; readonly isOperator: boolean } }
export const UserMarks = ({ user }: UserMarksProps) => (
  <>
    <Badge tone={user.status === 'active' ? 'good' : 'bad'}>{user.status === 'active' ? 'Active' : 'Disabled'}</Badge>{' '}
    {user.isOperator ? <Badge tone="waiting">Operator</Badge> : null}
  </>
)
