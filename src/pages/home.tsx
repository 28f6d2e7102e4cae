import { Elysia } from 'elysia'
import type { Door } from '../http/door.ts'
import { Layout } from './layout.tsx'
import { page } from './page.ts'
import { requireVisit, type Visit } from './visit.ts'

/** The start page, with a link to each area that this person can use. */
export const homeRoutes = (door: Door) =>
  new Elysia().get('/', async ({ request }) => page(<HomePage visit={await requireVisit(door, request)} />))

const HomePage = ({ visit }: { readonly visit: Visit }) => (
  <Layout title="Start" visit={visit}>
    <div class="cards">
      <Card href="/account" name="Account">
        Your password, your sessions, and the apps that can act for you.
      </Card>
      <Card href="/installs" name="Installs">
        The apps on your websites and stores, and the apps that you can install.
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
