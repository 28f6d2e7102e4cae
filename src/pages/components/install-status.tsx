import type { AppInstall } from '../../operations/installs/lists.ts'
import { Badge, type Tone } from './badge.tsx'

type InstallStatusProps = { readonly install: Pick<AppInstall, 'approval' | 'state'> }

/** Where an install stands, in one word for developers and operators alike. */
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
