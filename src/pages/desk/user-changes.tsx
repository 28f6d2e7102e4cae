import type { ComponentChildren } from 'preact'
import type { InspectedUser } from '../../operations/users/find-user.ts'
import { ButtonForm } from '../design/field.tsx'
import type { Visit } from '../visit.ts'
import { userPath } from './desk-page.tsx'

type UserChangesProps = { readonly visit: Visit; readonly user: InspectedUser }

/** What an operator can change about somebody else. What ends something, or gives rights, is confirmed first. */
export const UserChanges = ({ visit, user }: UserChangesProps) => (
  <div class="cards">
    {user.status === 'active' ? (
      <Change user={user} step="disable" title="Disable this user" button="Disable">
        Their sessions end at once, and apps can no longer act for them. Nothing is deleted.
      </Change>
    ) : (
      <article>
        <h2>Enable this user</h2>
        <p>
          They can sign in again, and the access that they gave to apps works again unless it has expired. Their
          suspended apps stay suspended.
        </p>
        <ButtonForm action={userPath(user.id, 'enable')} visit={visit} look="outline small">
          Enable
        </ButtonForm>
      </article>
    )}
    <Change user={user} step="password" title="New password" button="Generate a new password">
      The old password stops working, and their sessions end at once.
    </Change>
    {user.isOperator ? (
      <Change user={user} step="withdraw-operator" title="Operator" button="Remove operator rights">
        Operators can do everything that you can do here.
      </Change>
    ) : (
      <Change user={user} step="make-operator" title="Operator" button="Make them an operator">
        They will be able to do everything that you can do here.
      </Change>
    )}
  </div>
)

type ChangeProps = Pick<UserChangesProps, 'user'> & {
  readonly step: 'disable' | 'password' | 'make-operator' | 'withdraw-operator'
  readonly title: string
  readonly button: string
  readonly children: ComponentChildren
}

const Change = ({ user, step, title, button, children }: ChangeProps) => (
  <article>
    <h2>{title}</h2>
    <p>{children}</p>
    <a class="button outline small" href={userPath(user.id, step)}>
      {button}
    </a>
  </article>
)
