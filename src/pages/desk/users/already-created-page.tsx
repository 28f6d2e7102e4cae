import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { deskPaths } from '../paths.ts'

/** The answer to a form that is sent a second time. The password was shown once, and nobody has it any more. */
export const AlreadyCreatedPage = ({ visit }: { readonly visit: Visit }) => (
  <DeskPage title="This form was sent before" visit={visit} tab={deskPaths.users}>
    <p>Nothing was done a second time. If the user was created, they are in the list.</p>
    <p>
      A generated password is shown once only. If you have not seen it, open the user and give them a new one there.
    </p>
    <p>
      <a href={deskPaths.users}>Go to the users</a> · <a href={deskPaths.newUser}>Open a new form</a>
    </p>
  </DeskPage>
)
