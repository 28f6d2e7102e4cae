import type { Area } from '../change.tsx'
import { type AreaNavigation, type FrameProps, Layout } from '../design/shell.tsx'
import { afterSignIn } from '../second-step.tsx'
import type { Visit } from '../visit.ts'

/** The addresses of the account's pages and forms. */
export const accountPaths = {
  overview: '/account',
  email: '/account/email',
  mails: '/account/mails',
  password: '/account/password',
  factors: '/account/factors',
  totp: '/account/factors/totp',
  addPasskey: '/account/factors/passkeys/new',
  ...afterSignIn,
  sessions: '/account/sessions',
  apps: '/account/apps',
  installs: '/installs',
  directory: '/apps',
} as const

// Their types are the paths themselves, from which Elysia infers the parameters of a route.
export const connectedAppPath = <ClientId extends string>(clientId: ClientId) =>
  `${accountPaths.apps}/${clientId}` as const
export const installCodePath = <Id extends string>(id: Id) => `${accountPaths.installs}/${id}/code` as const
export const agreePath = <Id extends string>(id: Id) => `${accountPaths.installs}/${id}/agree` as const

const tabs = [
  { path: accountPaths.overview, name: 'Overview', icon: 'user' },
  { path: accountPaths.email, name: 'Email address', icon: 'mail' },
  { path: accountPaths.mails, name: 'Emails', icon: 'mail' },
  { path: accountPaths.password, name: 'Password', icon: 'lock' },
  { path: accountPaths.factors, name: 'Second factors', icon: 'shield' },
  { path: accountPaths.sessions, name: 'Sessions', icon: 'screen' },
] as const

const appsTabs = [
  { path: accountPaths.installs, name: 'Installs', icon: 'box' },
  { path: accountPaths.directory, name: 'Find apps', icon: 'apps' },
  { path: accountPaths.apps, name: 'Connected apps', icon: 'link' },
] as const
type AppsTab = (typeof appsTabs)[number]['path']

/** Nobody is led to a page about something that they do not have. */
const accountNavigation = ({ session }: Visit, current: string): AreaNavigation => ({
  label: 'Account',
  links: session.user.hasPassword ? tabs : tabs.filter(({ path }) => path !== accountPaths.password),
  current,
})

export const accountArea: Area = { key: 'account', navigation: async (visit) => accountNavigation(visit, '') }

/** What apps are on the websites and stores of a person, may do for them, or could. */
export const appsNavigation = (current: AppsTab | ''): AreaNavigation => ({ label: 'Apps', links: appsTabs, current })

export const appsArea: Area = { key: 'apps', navigation: async () => appsNavigation('') }

type AccountPageProps = FrameProps & { readonly tab: (typeof tabs)[number]['path'] }

/** The frame of the account's pages. */
export const AccountPage = ({ tab, ...frame }: AccountPageProps) => (
  <Layout {...frame} belongsTo="Account" section="account" nav={accountNavigation(frame.visit, tab)} />
)

/** The frame of the pages about the apps that a person uses. */
export const AppsPage = ({ tab, ...frame }: FrameProps & { readonly tab: AppsTab }) => (
  <Layout {...frame} belongsTo="Apps" section="apps" nav={appsNavigation(tab)} />
)
