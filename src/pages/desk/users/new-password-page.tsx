import type { UserSummary } from '../../../operations/users/find-user.ts'
import { Secret } from '../../components/values.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { deskPaths, userPath } from '../paths.ts'

type NewPasswordPageProps = {
  readonly visit: Visit
  readonly title: string
  readonly user: Pick<UserSummary, 'id' | 'email' | 'name'>
  readonly password: string
}

/** The one page that ever shows a generated password. */
export const NewPasswordPage = ({ visit, title, user, password }: NewPasswordPageProps) => (
  <DeskPage title={title} visit={visit} tab={deskPaths.users}>
    <p>
      <bdi>{user.name}</bdi> can sign in with {user.email} and this password. Hand it over in person or over a channel
      that you trust, and ask them to change it.
    </p>
    <Secret label="Password" value={password} />
    <p>
      <a href={userPath(user.id)}>I have copied it: go to the user</a>
    </p>
  </DeskPage>
)
