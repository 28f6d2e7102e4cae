import { Elysia } from 'elysia'
import type { Door } from '../http/door.ts'
import { Layout, LinkCards } from './design/shell.tsx'
import { page } from './page.ts'
import { requireVisit, type Visit } from './visit.ts'

/** The start page, with a link to each area that this person can use. */
export const homeRoutes = (door: Door) =>
  new Elysia().get('/', async ({ request }) => page(<HomePage visit={await requireVisit(door, request)} />))

const HomePage = ({ visit }: { readonly visit: Visit }) => (
  <Layout title="Start" visit={visit}>
    <LinkCards links={visit.session.user.isOperator ? [...areas, desk] : areas} />
  </Layout>
)

const areas = [
  {
    href: '/account',
    name: 'Account',
    about: 'Your password, your sessions, and the apps that can act for you.',
  },
  {
    href: '/installs',
    name: 'Installs',
    about: 'The apps on your websites and stores, and the apps that you can install.',
  },
  {
    href: '/console',
    name: 'Developer console',
    about: 'Your own apps: credentials, redirect URIs, scopes and versions.',
  },
]
const desk = {
  href: '/desk',
  name: 'Operator desk',
  about: 'Reviews, installs, apps, users, the audit log and the health of this server.',
}
