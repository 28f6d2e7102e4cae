import { otherSite } from '../../domain/sign-in-rules.ts'
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
export const openInstallPath = <Id extends string>(id: Id) => `${accountPaths.installs}/${id}/open` as const
export const installCodePath = <Id extends string>(id: Id) => `${accountPaths.installs}/${id}/code` as const
export const agreePath = <Id extends string>(id: Id) => `${accountPaths.installs}/${id}/agree` as const

const tabs = [
  { path: accountPaths.overview, name: 'Overview', icon: 'user' },
  { path: accountPaths.email, name: 'Email address', icon: 'mail' },
  { path: accountPaths.mails, name: 'Emails', icon: 'mail' },
  { path: accountPaths.password, name: 'Password', icon: 'lock' },
  { path: accountPaths.factors, name: 'Second factors', icon: 'shield' },
  { path: accountPaths.sessions, name: 'Sessions', icon: 'screen' },
  { path: accountPaths.apps, name: 'Connected apps', icon: 'link' },
  { path: accountPaths.installs, name: 'Installs', icon: 'box' },
] as const

/** Nobody is led to a page about something that they do not have. */
const accountNavigation = ({ session }: Visit, current: string): AreaNavigation => ({
  label: 'Account',
  links: session.user.hasPassword ? tabs : tabs.filter(({ path }) => path !== accountPaths.password),
  current,
})

export const accountArea: Area = { key: 'account', navigation: async (visit) => accountNavigation(visit, '') }

/** How this person signs in, in sentences: with a password, at another site, or with a passkey alone. */
export const signInWords = ({ door: { platform }, session: { user } }: Visit) => {
  const site = otherSite(platform.signIn, platform.builder?.name ?? null, user.isOperator)
  if (!user.hasPassword && site === null) {
    return {
      first: 'your passkey',
      alone: 'your passkey alone is',
      stolen: 'somebody who takes your passkey still cannot sign in',
      secure: <>remove the passkeys that you do not know</>,
      email: 'You receive emails there.',
    }
  }
  return user.hasPassword
    ? {
        first: 'your password',
        alone: 'your password alone is',
        stolen: 'somebody who learns your password still cannot sign in',
        secure: <a href={accountPaths.password}>change your password</a>,
        email: 'You sign in with it and receive emails there.',
      }
    : {
        first: `your account at ${site}`,
        alone: `your account at ${site} alone is`,
        stolen: `somebody who gets into your account at ${site} still cannot sign in here`,
        secure: <>secure your account at {site}</>,
        email: 'You receive emails there.',
      }
}

type AccountPageProps = FrameProps & { readonly tab: (typeof tabs)[number]['path'] }

/** The frame of the account's pages. */
export const AccountPage = ({ tab, ...frame }: AccountPageProps) => (
  <Layout {...frame} belongsTo="Account" section="account" nav={accountNavigation(frame.visit, tab)} />
)
