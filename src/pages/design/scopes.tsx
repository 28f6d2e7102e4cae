import { scopeCatalogue, type ScopeName } from '../../domain/scope.ts'
import { Badge } from './badge.tsx'

type ScopeListProps = {
  readonly scopes: readonly ScopeName[]
  /** The scopes that were agreed to before; the others are marked as new. Null marks nothing. */
  readonly agreed?: readonly ScopeName[] | null
  readonly class?: string
}

/** What an app may do, in words. */
export const ScopeList = ({ scopes, agreed = null, class: name }: ScopeListProps) =>
  scopes.length === 0 ? (
    <p>Nothing except learn an ID that stands for your account.</p>
  ) : (
    <ul class={name}>
      {scopes.map((scope) => (
        <li key={scope}>
          {scopeCatalogue[scope].words}
          {agreed === null || agreed.includes(scope) ? null : (
            <>
              {' '}
              <Badge tone="waiting">New</Badge>
            </>
          )}
        </li>
      ))}
    </ul>
  )
