import type { ComponentChildren } from 'preact'
import type { ListedSecret } from '../operations/credentials/credentials.ts'
import { Badge } from './design/badge.tsx'
import { Row } from './design/row-list.tsx'
import { LastUsed, Time } from './design/values.tsx'

type OfSecret = { readonly secret: ListedSecret }

type SecretRowProps = OfSecret & {
  /** Who made it, in the middle of a sentence. */
  readonly maker: ComponentChildren
  readonly actions: ComponentChildren
  readonly children?: ComponentChildren
}

/** A client secret that has not ended, for members and operators. Everything is shown except the secret itself. */
export const SecretRow = ({ secret, maker, actions, children }: SecretRowProps) => (
  <Row
    title={<bdi>{secretName(secret)}</bdi>}
    badge={<SecretStatus secret={secret} />}
    facts={[
      <>
        Ends with <SecretHint secret={secret} />
      </>,
      <>
        Created <Time at={secret.createdAt} /> by {maker}
      </>,
      <LastUsed at={secret.lastUsedAt} />,
      <code>{secret.id}</code>,
    ]}
    actions={actions}
  >
    {children}
  </Row>
)

export const secretName = ({ label }: Pick<ListedSecret, 'label'>): string => label ?? 'Secret without a label'

/** The end of a secret, to compare with a copy of it. */
export const SecretHint = ({ secret: { hint } }: OfSecret) =>
  hint === null ? <span class="muted">Not recorded</span> : <code>…{hint}</code>

const SecretStatus = ({ secret: { status, expiresAt } }: OfSecret) => {
  if (status !== 'live') return <Badge tone="bad">{status === 'suspended' ? 'Suspended' : 'Ended'}</Badge>
  if (expiresAt === null) return <Badge tone="good">Active</Badge>
  return (
    <Badge tone="waiting">
      Active until <Time at={expiresAt} />
    </Badge>
  )
}
