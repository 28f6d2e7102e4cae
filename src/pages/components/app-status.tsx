import type { AppStatus } from '../../domain/app.ts'
import { Badge } from './badge.tsx'

export const AppStatusBadge = ({ status }: { readonly status: AppStatus }) => (
  <Badge tone={status === 'active' ? 'good' : 'bad'}>{status === 'active' ? 'Active' : 'Suspended'}</Badge>
)
