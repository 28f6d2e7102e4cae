import { scopeCatalogue, type ScopeName } from '../../../domain/scope.ts'
import { Badge } from '../../components/badge.tsx'

type ScopeListProps = {
  readonly scopes: readonly ScopeName[]
  /** Those that were agreed to before; the others are marked. Null where nothing was. */
  readonly agreed?: readonly ScopeName[] | null
}

/** What an app may do, in words, and nothing else. */
export const ScopeList = ({ scopes, agreed = null }: ScopeListProps) =>
  scopes.length === 0 ? (
    <p>Nothing but learn an ID that stands for your account.</p>
  ) : (
    <ul>
      {scopes.map((name) => (
        <li key={name}>
          {scopeCatalogue[name].words}
          {agreed === null || agreed.includes(name) ? null : (
            <>
              {' '}
              <Badge tone="waiting">New</Badge>
            </>
          )}
        </li>
      ))}
    </ul>
  )
