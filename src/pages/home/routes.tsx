import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { Layout } from '../layout.tsx'
import { page } from '../page.ts'
import { signedIn, type Visit, visitOf } from '../visit.ts'

/** Where everything starts: what this person can do here. */
export const homeRoutes = (door: Door) =>
  new Elysia().use(signedIn(door)).get('/', async ({ request }) => page(<HomePage visit={visitOf(request)} />))

const HomePage = ({ visit }: { readonly visit: Visit }) => (
  <Layout title="Start" visit={visit}>
    <div class="cards">
      <Card href="/account" name="Account">
        Your password, where you are signed in, and the apps that may act for you.
      </Card>
      <Card href="/installs" name="Installs">
        Apps on your websites and stores: what they may do, and more that you can install.
      </Card>
      <Card href="/console" name="Developer console">
        Your own apps: credentials, redirect URIs, scopes and versions.
      </Card>
      {visit.session.user.isOperator ? (
        <Card href="/desk" name="Operator desk">
          Reviews, installs, apps, users, the audit log and the health of this server.
        </Card>
      ) : null}
    </div>
  </Layout>
)

type CardProps = { readonly href: string; readonly name: string; readonly children: string }
const Card = ({ href, name, children }: CardProps) => (
  <article>
    <h2>
      <a href={href}>{name}</a>
    </h2>
    <p>{children}</p>
  </article>
)
