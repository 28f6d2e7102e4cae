import type { TProperties } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { mixedScripts } from '../../domain/name.ts'
import type { VersionStatus } from '../../domain/version.ts'
import { type Area, type FormChange, formPage } from '../change.tsx'
import { Fields } from '../design/field.tsx'
import { Form, SendButton } from '../design/form.tsx'
import { page } from '../page.ts'
import { type AreaNavigation, type FrameProps, Layout, type NavLink } from '../design/shell.tsx'
import type { Visit } from '../visit.ts'

/** The addresses of the desk's pages. */
export const deskPaths = {
  desk: '/desk',
  reviews: '/desk/reviews',
  decided: '/desk/reviews/decided',
  installs: '/desk/installs',
  newInstall: '/desk/installs/new',
  apps: '/desk/apps',
  newApp: '/desk/apps/new',
  users: '/desk/users',
  newUser: '/desk/users/new',
  serviceKeys: '/desk/service-keys',
  newServiceKey: '/desk/service-keys/new',
  scopes: '/desk/scopes',
  newScope: '/desk/scopes/new',
  webhooks: '/desk/webhooks',
  newWebhook: '/desk/webhooks/new',
  audit: '/desk/audit',
  health: '/desk/health',
  backups: '/desk/backups',
  quotas: '/desk/quotas',
  settings: '/desk/settings',
} as const

/** A version's review, or one of the pages and forms below it. */
export const reviewPath = (slug: string, version: string, ...rest: readonly string[]): string =>
  [deskPaths.reviews, slug, encodeURIComponent(version), ...rest].join('/')
export const deskAppPath = (slug: string, ...rest: readonly string[]): string =>
  [deskPaths.apps, slug, ...rest].join('/')
export const userPath = (id: string, ...rest: readonly string[]): string => [deskPaths.users, id, ...rest].join('/')
export const scopePath = (name: string, ...rest: readonly string[]): string =>
  [deskPaths.scopes, encodeURIComponent(name), ...rest].join('/')
export const builderEndpointPath = (id: string, ...rest: readonly string[]): string =>
  [deskPaths.webhooks, id, ...rest].join('/')
export const serviceKeyPath = (id: string, ...rest: readonly string[]): string =>
  [deskPaths.serviceKeys, id, ...rest].join('/')

const tabs = [
  { path: deskPaths.reviews, name: 'Reviews', icon: 'check', group: 'Waiting' },
  { path: deskPaths.installs, name: 'Installs', icon: 'box', group: 'Waiting' },
  { path: deskPaths.apps, name: 'Apps', icon: 'apps', group: 'Records' },
  { path: deskPaths.users, name: 'Users', icon: 'users', group: 'Records' },
  { path: deskPaths.serviceKeys, name: 'Service keys', icon: 'key', group: 'Records' },
  { path: deskPaths.scopes, name: 'Scopes', icon: 'lock', group: 'Records' },
  { path: deskPaths.webhooks, name: 'Webhooks', icon: 'bolt', group: 'Records' },
  { path: deskPaths.audit, name: 'Audit log', icon: 'list', group: 'Server' },
  { path: deskPaths.health, name: 'Health', icon: 'pulse', group: 'Server' },
  { path: deskPaths.backups, name: 'Backups', icon: 'backup', group: 'Server' },
  { path: deskPaths.quotas, name: 'Quotas', icon: 'gauge', group: 'Server' },
  { path: deskPaths.settings, name: 'Settings', icon: 'sliders', group: 'Server' },
] as const

type DeskPageProps = FrameProps & {
  readonly tab: (typeof tabs)[number]['path']
  /** The subject of the page, for the title of the window. */
  readonly belongsTo?: string
  /** The address and the name of the form that adds to the list of this page. */
  readonly add?: readonly [href: string, name: string]
}

/** The tabs, with what waits behind them. */
const tabsFor = ({ waiting }: Visit): readonly NavLink[] => {
  const [reviews, installs, ...others] = tabs
  return [{ ...reviews, waiting: waiting?.reviews ?? 0 }, { ...installs, waiting: waiting?.installs ?? 0 }, ...others]
}

const deskNavigation = (visit: Visit, current: string): AreaNavigation => ({
  label: 'Desk',
  links: tabsFor(visit),
  current,
})

export const deskArea: Area = { key: 'desk', navigation: async (visit) => deskNavigation(visit, '') }

/** The frame of the operators' pages. */
export const DeskPage = ({ tab, belongsTo = 'Desk', add, children, ...frame }: DeskPageProps) => (
  <Layout
    actions={
      add && (
        <a href={add[0]} class="button primary">
          {add[1]}
        </a>
      )
    }
    {...frame}
    belongsTo={belongsTo}
    section="desk"
    nav={deskNavigation(frame.visit, tab)}
  >
    <div class="desk">{children}</div>
  </Layout>
)

/** The slug of an app, which leads to its page. */
export const AppLink = ({ slug }: { readonly slug: string }) => (
  <a href={deskAppPath(slug)}>
    <code>{slug}</code>
  </a>
)

/** A warning that the name of an app mixes scripts, because letters of one script can look like letters of another. */
export const mixedScriptsFact = (name: string) => {
  const scripts = mixedScripts(name)
  return {
    'The name mixes scripts': scripts && (
      <>
        {scripts.map(({ script, letters }) => (
          <div key={script}>
            {script}: <bdi>{letters.join(' ')}</bdi>
          </div>
        ))}
        Letters of different scripts can look the same. Compare the name with the name that it may imitate.
      </>
    ),
  }
}

type OwnerProps = { readonly owner: { readonly id: string; readonly name: string; readonly email: string } }

/** The owner of an app, with a link to their page. */
export const Owner = ({ owner: { id, name, email } }: OwnerProps) => (
  <>
    <bdi>{name}</bdi>, <a href={userPath(id)}>{email}</a>
  </>
)

/** The refusal of a decision about a version that has changed since the page was shown. */
export const notAsShown = (status: VersionStatus): PlatformError => {
  const message = status === 'submitted' ? changedSince : `${statusNow[status]} Your decision changed nothing.`
  return refuse('version_not_eligible', { message, details: { status } })
}

const changedSince =
  'This version, or the live version, has changed since you opened this page. Nothing was decided. Review it again, then decide.'

/** Why nobody decides about a version that does not wait for it. */
export const statusNow: Readonly<Record<Exclude<VersionStatus, 'submitted'>, string>> = {
  draft: 'The developer has withdrawn this version.',
  approved: 'This version is already approved.',
  active: 'This version is already live.',
  superseded: 'This version has already been live and superseded.',
  rejected: 'This version is already rejected.',
}

type DeskForm<Path extends string, T extends TProperties> = Pick<
  FormChange<Path, T>,
  'effect' | 'form' | 'act' | 'again'
> &
  Pick<DeskPageProps, 'title' | 'tab' | 'about'> & {
    readonly button: string
    /** What its fields show at first. */
    readonly values?: (visit: Visit) => Readonly<Record<string, string>>
    /** What stands below the fields. */
    readonly more?: (visit: Visit) => ComponentChildren | Promise<ComponentChildren>
  }

/** A page of the desk that is one form. */
export const deskForm = <const Path extends string, T extends TProperties>(
  path: Path,
  { effect, form, act, again, button, values, more, ...frame }: DeskForm<Path, T>,
) =>
  formPage(path, {
    by: 'operator',
    effect,
    form,
    act,
    ...(again && { again }),
    show: async (visit) =>
      page(
        <DeskPage {...frame} visit={visit}>
          <Form action={path} visit={visit} class="measure">
            <Fields of={form} {...(values && { values: values(visit) })} />
            {await more?.(visit)}
            <SendButton>{button}</SendButton>
          </Form>
        </DeskPage>,
      ),
  })
