import type { AppStatus } from '../../domain/app.ts'
import { Badge } from './badge.tsx'

type AppStatusBadgeProps = {
  readonly status: AppStatus
  /** When it was deleted; null or left out when it is not. */
  readonly deletedAt?: number | null
}

export const AppStatusBadge = ({ status, deletedAt = null }: AppStatusBadgeProps) => {
  if (deletedAt !== null) return <Badge tone="bad">Deleted</Badge>
  return <Badge tone={status === 'active' ? 'good' : 'bad'}>{status === 'active' ? 'Active' : 'Suspended'}</Badge>
}
