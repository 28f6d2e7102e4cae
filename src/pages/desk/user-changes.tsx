import type { ComponentChildren } from 'preact'
import type { PlatformError } from '../../domain/errors.ts'
import type { InspectedUser } from '../../operations/users/find-user.ts'
import { ButtonForm, Choice, ChoiceSet, Field, Form } from '../design/field.tsx'
import type { Visit } from '../visit.ts'
import { userPath } from './desk-page.tsx'

type UserChangesProps = {
  readonly visit: Visit
  readonly user: InspectedUser
  readonly error: PlatformError | null
}

/** What an operator can change about somebody else. */
export const UserChanges = ({ visit, user, error }: UserChangesProps) => (
  <div class="cards">
    {user.status === 'active' ? (
      <Disable visit={visit} user={user} error={error} />
    ) : (
      <Change visit={visit} user={user} step="enable" title="Enable this user" button="Enable">
        They can sign in again, and the access that they gave to apps works again unless it has expired. Their suspended
        apps stay suspended.
      </Change>
    )}
    <Change visit={visit} user={user} step="password" title="New password" button="Generate a new password" danger>
      The old password stops working, and their sessions end at once. The next page shows the new password once.
    </Change>
    {user.isOperator ? (
      <Change
        visit={visit}
        user={user}
        step="withdraw-operator"
        title="Operator"
        button="Remove operator rights"
        danger
      >
        Operators can do everything that you can do here. Without operator rights they keep their account and their
        apps.
      </Change>
    ) : (
      <Change visit={visit} user={user} step="make-operator" title="Operator" button="Make them an operator">
        They will be able to do everything that you can do here: review, suspend, disable, and make other operators.
      </Change>
    )}
  </div>
)

type ChangeProps = Omit<UserChangesProps, 'error'> & {
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
    <ButtonForm action={userPath(user.id, step)} visit={visit} look={danger ? 'danger small' : 'outline small'}>
      {button}
    </ButtonForm>
  </article>
)

const choices = [
  { apps: 'suspend', label: 'Suspend their apps', about: 'They stop working until an operator activates them.' },
  { apps: 'keep', label: 'Keep their apps', about: 'They keep working without an active owner.' },
  { apps: 'transfer', label: 'Give their apps to', about: 'Another active user becomes the owner.' },
] as const

/** The operator decides about the user's apps in the same step, because nothing else would stop them. */
const Disable = ({ visit, user, error }: UserChangesProps) => (
  <article>
    <h2>Disable this user</h2>
    <p>
      Their sessions end at once, and apps can no longer act for them. Nothing is deleted. If you enable them again,
      everything that has not expired works again.
    </p>
    <Form action={userPath(user.id, 'disable')} visit={visit}>
      {user.apps.length === 0 ? null : (
        <ChoiceSet legend="Own apps" name="apps">
          {choices.map(({ apps, label, about }) => (
            <Choice key={apps} type="radio" name="apps" value={apps} checked={apps === 'suspend'} about={about}>
              {label}
            </Choice>
          ))}
          <Field label="New owner’s email address" name="to" error={error} input={{ type: 'email' }} />
        </ChoiceSet>
      )}
      <button type="submit" class="danger small">
        Disable
      </button>
    </Form>
  </article>
)
