import { scopeCatalogue, type ScopeName } from '../../../domain/scope.ts'
import type { Review } from '../../../operations/versions/read-review.ts'
import { Badge } from '../../components/badges.tsx'

/** What the version asks for, in the words that users read; what is new stands first and is marked. */
export const ScopeChanges = ({ review }: { readonly review: Review }) => {
  const { version, live, newScopes, droppedScopes } = review
  const kept = version.scopes.filter((scope) => !newScopes.includes(scope))
  return (
    <section aria-labelledby="scopes">
      <h2 id="scopes">Scopes</h2>
      <p class="muted">{sentenceAbout(review)}</p>
      <ul class="scope-changes">
        {newScopes.map((scope) => (
          <Scope key={scope} scope={scope} mark={live === null ? null : <Badge tone="waiting">New</Badge>} />
        ))}
        {kept.map((scope) => (
          <Scope key={scope} scope={scope} mark={null} />
        ))}
        {droppedScopes.map((scope) => (
          <Scope key={scope} scope={scope} mark={<Badge>No longer asked for</Badge>} />
        ))}
      </ul>
    </section>
  )
}

const Scope = ({ scope, mark }: { readonly scope: ScopeName; readonly mark: preact.ComponentChildren }) => (
  <li>
    {scopeCatalogue[scope].words} <code>{scope}</code> {mark}
  </li>
)

const sentenceAbout = ({ version, live, newScopes, droppedScopes }: Review): string => {
  if (version.scopes.length === 0 && droppedScopes.length === 0) return 'It asks for no scopes.'
  if (live === null) return 'Nothing is live yet, so all of them are new.'
  if (live.id === version.id) return 'This is what the live version asks for.'
  if (newScopes.length > 0) {
    return `It asks for ${newScopes.length === 1 ? 'a scope' : `${newScopes.length} scopes`} that the live version ${live.version} does not have.`
  }
  return `It asks for nothing that the live version ${live.version} does not have.`
}
