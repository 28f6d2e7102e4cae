import type { VersionStatus } from '../../domain/version.ts'
import { Badge, type Tone } from './badge.tsx'

/** What developers and operators alike call each status of a version. */
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
