import type { Environment } from '../../../domain/app.ts'
import { Badge } from '../../components/badge.tsx'

export const environmentNames = { development: 'Development', production: 'Production' } as const satisfies Record<
  Environment,
  string
>

export const EnvironmentBadge = ({ environment }: { readonly environment: Environment }) => (
  <Badge tone={environment === 'development' ? 'waiting' : 'plain'}>{environmentNames[environment]}</Badge>
)
