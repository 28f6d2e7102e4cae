import type { VersionStatus } from '../../../domain/version.ts'
import { Badge, type Tone } from '../../components/badge.tsx'

/** What each status is called, and what it means for the developer. */
export const versionStatusWords = {
  draft: {
    name: 'Draft',
    tone: 'plain',
    meaning: 'Only you see it. Upload it again to replace it, or submit it for review.',
  },
  submitted: { name: 'In review', tone: 'waiting', meaning: 'An operator looks at it. Its content cannot change now.' },
  approved: {
    name: 'Approved',
    tone: 'good',
    meaning: 'It passed the review and goes live when an operator activates it.',
  },
  active: { name: 'Live', tone: 'good', meaning: 'This is what users get.' },
  superseded: {
    name: 'Superseded',
    tone: 'plain',
    meaning: 'It was live before. A production rollback can bring it back.',
  },
  rejected: {
    name: 'Rejected',
    tone: 'bad',
    meaning: 'It stays as it is. Upload what you mended under a new version.',
  },
} as const satisfies Record<VersionStatus, { name: string; tone: Tone; meaning: string }>

export const VersionStatusBadge = ({ status }: { readonly status: VersionStatus }) => (
  <Badge tone={versionStatusWords[status].tone}>{versionStatusWords[status].name}</Badge>
)

/** Marks what the app's development credentials work on. */
export const HeadBadge = ({ isHead }: { readonly isHead: boolean }) =>
  isHead ? <Badge tone="waiting">Development head</Badge> : null
