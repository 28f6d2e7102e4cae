import type { Authorization, ConnectedApp } from '../../operations/grants/connected-apps.ts'
import { Form } from '../components/form.tsx'
import { Older } from '../components/older.tsx'
import { Time } from '../components/time.tsx'
import type { Visit } from '../visit.ts'
import { AccountPage } from './account-page.tsx'
import { AppBadges, AppFacts, LastFetched, ScopeWords } from './app-parts.tsx'
import { accountPaths, revokeAppPath, revokeAuthorizationPath } from './paths.ts'

type AppPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly app: ConnectedApp
  readonly authorizations: readonly Authorization[]
  /** Where the older ones are; null when these are all. */
  readonly olderHref: string | null
}

/** One app, and each time that it was allowed. */
export const AppPage = ({ visit, notice, app, authorizations, olderHref }: AppPageProps) => (
  <AccountPage title={app.name} visit={visit} path={accountPaths.apps} notice={notice}>
    <AppBadges app={app} />
    <p>All together, it may:</p>
    <ScopeWords scopes={app.scopes} />
    <AppFacts app={app} />
    <p class="muted">
      A token that it has fetched lets an app act for you for up to an hour; then it has to fetch another.
    </p>
    <Form action={revokeAppPath(app.clientId)} visit={visit}>
      <p>
        Revoking works at once, on every device; the app can then do nothing for you unless you allow it again. What it
        has read before it may still have.
      </p>
      <button type="submit" class="danger small">
        Revoke all its access
      </button>
    </Form>
    <h2>Each authorization</h2>
    <p>One for each time that you allowed it, which is mostly one for each device or browser.</p>
    <div class="cards">
      {authorizations.map((authorization) => (
        <AuthorizationCard
          key={authorization.grantId}
          visit={visit}
          clientId={app.clientId}
          authorization={authorization}
        />
      ))}
    </div>
    <Older href={olderHref} name="Older authorizations" />
  </AccountPage>
)

type AuthorizationCardProps = {
  readonly visit: Visit
  readonly clientId: string
  readonly authorization: Authorization
}

const AuthorizationCard = ({ visit, clientId, authorization }: AuthorizationCardProps) => (
  <article>
    <h3>
      Allowed <Time at={authorization.since} />
    </h3>
    <ScopeWords scopes={authorization.scopes} />
    <dl>
      <dt>Last fetched a token</dt>
      <dd>
        <LastFetched at={authorization.lastFetchedAt} />
      </dd>
      <dt>Ends if unused</dt>
      <dd>
        <Time at={authorization.expiresAt} />
      </dd>
    </dl>
    <Form action={revokeAuthorizationPath(clientId, authorization.grantId)} visit={visit}>
      <button type="submit" class="danger small">
        Revoke this one
        <span class="unseen">
          , allowed <Time at={authorization.since} />
        </span>
      </button>
    </Form>
  </article>
)
