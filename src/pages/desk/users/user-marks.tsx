import type { UserStatus } from '../../../domain/user.ts'
import { Badge } from '../../components/badges.tsx'

type UserMarksProps = {
  readonly user: {
    readonly status: UserStatus
    readonly isOperator: boolean
    readonly passwordSuspendedAt: number | null
  }
}

export const UserMarks = ({ user }: UserMarksProps) => (
  <>
    <Badge tone={user.status === 'active' ? 'good' : 'bad'}>{user.status === 'active' ? 'Active' : 'Disabled'}</Badge>{' '}
    {user.isOperator ? <Badge>Operator</Badge> : null}{' '}
    {user.passwordSuspendedAt === null ? null : <Badge tone="bad">Password suspended</Badge>}
  </>
)
