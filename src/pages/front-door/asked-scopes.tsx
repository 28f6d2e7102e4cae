import { scopeCatalogue } from '../../domain/scope.ts'
import type { Consent } from '../../operations/oauth/consent.ts'
import { Badge } from '../components/badges.tsx'

/** Each scope that was asked for, in plain words, and no other. */
export const AskedScopes = ({ consent }: { readonly consent: Consent }) => (
  <>
    {historyOf(consent)}
    <ul class="asked">
      {consent.scopes.map(({ name, isNew }) => (
        <li key={name}>
          {scopeCatalogue[name].words}
          {isNew ? (
            <>
              {' '}
              <Badge tone="waiting">New</Badge>
            </>
          ) : null}
        </li>
      ))}
    </ul>
    <p class="muted">It also learns an ID that stands for your account.</p>
  </>
)

const historyOf = ({ scopes, isKnown }: Consent) => {
  if (!isKnown) return null
  return (
    <p>
      {scopes.some(({ isNew }) => isNew)
        ? 'This app already has access to your account. It now asks for more: what is new is marked.'
        : 'This app already has this access to your account, and asks for it once more.'}
    </p>
  )
}
