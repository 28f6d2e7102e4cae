import type { ComponentChildren } from 'preact'
import type { PlatformError } from '../../../domain/errors.ts'
import type { InspectedUser } from '../../../operations/users/find-user.ts'
import { AppStatusBadge } from '../../components/badges.tsx'
import { Field, Form, Problem } from '../../components/form.tsx'
import { Time } from '../../components/values.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { appPath, auditPath, deskPaths, userPath } from '../paths.ts'
import { UserMarks } from './user-marks.tsx'

type UserPageProps = {
  readonly visit: Visit
  readonly user: InspectedUser
  readonly notice: string | null
  readonly error: PlatformError | null
}

export const UserPage = ({ visit, user, notice, error }: UserPageProps) => (
  <DeskPage title={user.name} about={user.email} visit={visit} tab={deskPaths.users} notice={notice}>
    <Problem error={error} />
    <dl>
      <dt>Email address</dt>
      <dd>{user.email}</dd>
      <dt>Status</dt>
      <dd>
        <UserMarks user={user} />
      </dd>
      {user.passwordSuspendedAt === null ? null : (
        <>
          <dt>Password</dt>
          <dd>
            Suspended since <Time at={user.passwordSuspendedAt} />, because data was lost. An operator confirms it on
            the command line: <code>app-platform user confirm-password {user.email}</code>
          </dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={user.createdAt} />
      </dd>
      <dt>Apps of their own</dt>
      <dd>
        <Apps apps={user.apps} />
      </dd>
      <dt>ID</dt>
      <dd>
        <code>{user.id}</code>
      </dd>
      <dt>What they did</dt>
      <dd>
        <a href={auditPath({ actor: user.id })}>Their part of the audit log</a>
      </dd>
    </dl>
    {user.id === visit.session.user.id ? (
      <p class="muted">
        This is you. Another operator can disable you or take your rights on the desk away. To change your password, go
        to <a href="/account/password">Account, Password</a>: it asks for the current one.
      </p>
    ) : (
      <Changes visit={visit} user={user} error={error} />
    )}
  </DeskPage>
)

const Apps = ({ apps }: Pick<InspectedUser, 'apps'>) =>
  apps.length === 0 ? (
    <>None</>
  ) : (
    <>
      {apps.map(({ slug, status }) => (
        <div key={slug}>
          <a href={appPath(slug)}>
            <code>{slug}</code>
          </a>{' '}
          {status === 'active' ? null : <AppStatusBadge status={status} />}
        </div>
      ))}
    </>
  )

type ChangesProps = Pick<UserPageProps, 'visit' | 'user' | 'error'>

const Changes = ({ visit, user, error }: ChangesProps) => (
  <div class="cards">
    {user.status === 'active' ? (
      <Disable visit={visit} user={user} error={error} />
    ) : (
      <Change visit={visit} user={user} step="enable" title="Enable this user" button="Enable">
        They can sign in again, and what they have allowed to apps works again where it has not expired. Their suspended
        apps stay suspended.
      </Change>
    )}
    <Change visit={visit} user={user} step="password" title="New password" button="Give a new password" danger>
      The old one stops working and their sessions end at once. The new one is shown once, on the next page.
    </Change>
    {user.isOperator ? (
      <Change visit={visit} user={user} step="withdraw-operator" title="Operator" button="Take the desk away" danger>
        They can do everything that you can do here. Without the desk they keep their account and their apps.
      </Change>
    ) : (
      <Change visit={visit} user={user} step="make-operator" title="Operator" button="Make them an operator">
        They will be able to do everything that you can do here: review, suspend, disable, and make other operators.
      </Change>
    )}
  </div>
)

type ChangeProps = Omit<ChangesProps, 'error'> & {
  readonly step: 'enable' | 'password' | 'make-operator' | 'withdraw-operator'
  readonly title: string
  readonly button: string
  readonly danger?: boolean
  readonly children: ComponentChildren
}

const Change = ({ visit, user, step, title, button, danger = false, children }: ChangeProps) => (
  <article>
    <h2>{title}</h2>
    <p>{children}</p>
    <Form action={userPath(user.id, step)} visit={visit}>
      <button type="submit" class={danger ? 'danger small' : 'outline small'}>
        {button}
      </button>
    </Form>
  </article>
)

const choices = [
  { apps: 'suspend', label: 'Suspend their apps', about: 'None of them works until somebody activates it.' },
  { apps: 'keep', label: 'Keep their apps', about: 'They go on working without an active owner.' },
  { apps: 'transfer', label: 'Give their apps to', about: 'Another active user owns them from now on.' },
] as const

/** Their apps are decided on in the same step: nobody else would stop them. */
const Disable = ({ visit, user, error }: ChangesProps) => (
  <article>
    <h2>Disable this user</h2>
    <p>
      Their sessions end at once, and apps can no longer act for them. Nothing is deleted: enabling them gives back what
      has not expired.
    </p>
    <Form action={userPath(user.id, 'disable')} visit={visit}>
      {user.apps.length === 0 ? null : (
        <fieldset class="scopes">
          <legend>Apps of their own</legend>
          {choices.map(({ apps, label, about }) => (
            <div class="scope" key={apps}>
              <input
                type="radio"
                id={`apps-${apps}`}
                name="apps"
                value={apps}
                checked={apps === 'suspend'}
                aria-describedby={`about-${apps}`}
              />
              <label for={`apps-${apps}`}>{label}</label>
              <small id={`about-${apps}`}>{about}</small>
            </div>
          ))}
          <Field label="New owner’s email address" name="to" error={error} input={{ type: 'email' }} />
        </fieldset>
      )}
      <button type="submit" class="danger small">
        Disable
      </button>
    </Form>
  </article>
)
