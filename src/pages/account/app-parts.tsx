import { type ScopeName, scopeCatalogue } from '../../domain/scope.ts'
import type { ConnectedApp } from '../../operations/grants/connected-apps.ts'
import { Badge } from '../components/badge.tsx'
import { Time } from '../components/time.tsx'

/** Scopes as a person is told them. */
export const ScopeWords = ({ scopes }: { readonly scopes: readonly ScopeName[] }) => (
  <ul>
    {scopes.map((scope) => (
      <li key={scope}>{scopeCatalogue[scope].words}</li>
    ))}
  </ul>
)

/** What one should know about an app beside its name: that it is still being made, or stopped. */
export const AppBadges = ({ app }: { readonly app: ConnectedApp }) =>
  app.environment === 'production' && app.status === 'active' ? null : (
    <p>
      {app.environment === 'development' ? <Badge tone="waiting">Development</Badge> : null}{' '}
      {app.status === 'suspended' ? (
        <>
          <Badge tone="bad">Suspended</Badge> It can do nothing until the operator lets it go on.
        </>
      ) : null}
    </p>
  )

export const AppFacts = ({ app }: { readonly app: ConnectedApp }) => (
  <dl>
    <dt>Publisher</dt>
    <dd>
      <bdi>{app.publisher}</bdi>
    </dd>
    <dt>Allowed since</dt>
    <dd>
      <Time at={app.since} />
    </dd>
    <dt>Last fetched a token</dt>
    <dd>
      <LastFetched at={app.lastFetchedAt} />
    </dd>
    <dt>Allowed on</dt>
    <dd>{app.authorizations === 1 ? 'One device or browser' : `${app.authorizations} devices or browsers`}</dd>
  </dl>
)

/** The last sign of life that is kept: with a token that it has, an app can act for an hour without another. */
export const LastFetched = ({ at }: { readonly at: number | null }) => (at === null ? <>Never</> : <Time at={at} />)
