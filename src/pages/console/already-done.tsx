import type { Visit } from '../visit.ts'
import { Layout } from '../layout.tsx'
import { page } from '../page.ts'

type Result = { readonly visit: Visit; readonly message: string; readonly href: string; readonly name: string }

/** The answer to a form that is sent a second time: nothing more was done, and this is where the result is. */
export const alreadyDone = ({ visit, message, href, name }: Result): Response =>
  page(
    <Layout title="Already done" visit={visit} section="console" width="narrow">
      <p>{message}</p>
      <p>
        <a href={href}>{name}</a>
      </p>
    </Layout>,
    { status: 409 },
  )
