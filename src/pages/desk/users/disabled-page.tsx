import type { DisabledUser } from '../../../operations/users/set-user-status.ts'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { appPath, deskPaths, userPath } from '../paths.ts'

type DisabledPageProps = { readonly visit: Visit; readonly disabled: DisabledUser }

/** What disabling a user has ended and stopped. */
export const DisabledPage = ({ visit, disabled: { user, ended, stopped, apps } }: DisabledPageProps) => (
  <DeskPage title="The user is disabled" about={user.email} visit={visit} tab={deskPaths.users}>
    <dl>
      <dt>Sessions ended</dt>
      <dd>{ended.sessions}</dd>
      <dt>Embedded sessions ended</dt>
      <dd>{ended.embeddedSessions}</dd>
      <dt>Grants that stopped</dt>
      <dd>
        {stopped.grants}, with {stopped.userTokens} user tokens
      </dd>
      <dt>Apps suspended</dt>
      <dd>
        <Apps slugs={apps.suspended} />
      </dd>
      <dt>App tokens that stopped</dt>
      <dd>{stopped.appTokens}</dd>
      <dt>Apps that go on without an active owner</dt>
      <dd>
        <Apps slugs={apps.kept} />
      </dd>
      <dt>Apps with a new owner</dt>
      <dd>
        <Apps slugs={apps.transferred} />
      </dd>
    </dl>
    <p>
      Enabling the user gives back grants that have not expired by then. Suspended apps stay suspended until somebody
      activates them.
    </p>
    {apps.transferred.length === 0 ? null : (
      <p>The previous owner may know the secrets of the apps with a new owner: rotate them.</p>
    )}
    <p>
      <a href={userPath(user.id)}>Go to the user</a>
    </p>
  </DeskPage>
)

const Apps = ({ slugs }: { readonly slugs: readonly string[] }) =>
  slugs.length === 0 ? (
    <>None</>
  ) : (
    <>
      {slugs.map((slug) => (
        <span key={slug}>
          <a href={appPath(slug)}>
            <code>{slug}</code>
          </a>{' '}
        </span>
      ))}
    </>
  )
