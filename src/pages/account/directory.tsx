import { iconPath } from '../../domain/app-icon.ts'
import { refuse } from '../../domain/errors.ts'
import { installLivePath, isInstallLive, listedAppPath, resourceKindsFor } from '../../domain/install.ts'
import { type ResourceKind, resourceKinds } from '../../domain/resource.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import { callOf } from '../../http/call.ts'
import type { Door } from '../../http/door.ts'
import { listDirectory, type ListedApp, readIconOfLive, readListedApp } from '../../operations/directory/directory.ts'
import { kindsOfPlaces, prepareInstall } from '../../operations/installs/installs.ts'
import { listOpenInstalls } from '../../operations/installs/lists.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { accountPaths, appsNavigation } from './account-page.tsx'
import { openInstallPath } from '../open-button.tsx'
import { AboutApp } from '../app-facts.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { EmptyState, FilterBar } from '../design/list-tools.tsx'
import { iconAnswer } from '../assets.ts'
import { ListRows, Row } from '../design/row-list.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { BackToBuilder, Layout } from '../design/shell.tsx'
import { Details, Facts, Time } from '../design/values.tsx'
import { LinkButton, SmallLink } from '../design/form.tsx'
import { describes, list, search } from '../list.ts'
import { page, sharedPage } from '../page.ts'
import { noPlace } from './install-question.tsx'
import { findVisit, type Visit } from '../visit.ts'
import { openPage, routes } from '../change.tsx'

const appsPerPage = 24 // each row says much
/** The directory of apps. Everybody can read and link to it. */
const directory = list('directory', accountPaths.directory, { q: search('Name, publisher or description') })

export const directoryRoutes = routes(() => {
  const shared = sharedPage()
  return [
    openPage(directory.path, async (door, request) => await showDirectory(door, request, shared), describes(directory)),
    openPage(listedAppPath(':slug'), async (door, request, { slug }) => await showApp(door, request, slug)),
    openPage(iconPath(':sha256'), async (door, _, { sha256 }) => await answerIcon(door, sha256)),
  ]
})

/** What a page of the directory knows of its reader. Only the platform's name if nobody is signed in. */
const readerOf = async (door: Door, request: Request) => {
  const visit = await findVisit(door, request)
  if (visit === null)
    return { frame: { visit: door.platform }, as: 'everybody', opens: [], has: resourceKinds } as const
  const frame = { visit, section: 'apps', nav: appsNavigation(accountPaths.directory) } as const
  const opens = await listOpenInstalls(door.platform, visit.userId)
  return { frame, as: 'signed in', opens, has: await kindsOfPlaces(door.platform, visit.userId) } as const
}

type OpenInstall = Awaited<ReturnType<typeof listOpenInstalls>>[number]
/** Not tests of its developers. */
const isOfLive = (app: Pick<ListedApp, 'id'>) => (install: OpenInstall) =>
  install.appId === app.id && install.environment === 'production'

const showDirectory = async (door: Door, request: Request, shared: ReturnType<typeof sharedPage>) => {
  const { platform } = door
  const { frame, as, opens, has } = await readerOf(door, request)
  const asked = directory.read({ call: callOf(request) })
  const apps = await asked.rows((window) =>
    listDirectory(platform, as, { ...window, limit: appsPerPage }, asked.values.q),
  )
  const catalogue = await readCatalogue(platform)
  const content = () => (
    <Layout
      {...frame}
      title="Apps"
      about="Apps for your websites and stores. You see what each may do before you install it."
      actions={
        as === 'signed in' ? undefined : (
          <LinkButton href={`/sign-in?${new URLSearchParams({ return_to: accountPaths.directory }).toString()}`}>
            Sign in
          </LinkButton>
        )
      }
    >
      {has.length > 0 ? null : <NoPlace kinds={resourceKinds} builder={platform.builder} />}
      <FilterBar of={asked} isShown={apps.rows.length > 0} />
      <ListRows
        label="Apps"
        of={apps}
        row={(app) => (
          <AppRow
            app={app}
            catalogue={catalogue}
            isSignedIn={as === 'signed in'}
            installs={opens.filter(isOfLive(app))}
            has={has}
          />
        )}
        empty={<EmptyState title="No apps yet">An app appears here when its first version goes live.</EmptyState>}
      />
    </Layout>
  )
  if (as === 'signed in') return page(content())
  return shared(JSON.stringify([request.url, apps, [...catalogue]]), content)
}

type AppRowProps = ButtonsProps & { readonly app: ListedApp; readonly catalogue: ScopeCatalogue }

/** A description that is longer is cut in a list. */
const longestInList = 240

const AppRow = ({ app, catalogue, ...reader }: AppRowProps) => {
  const { description } = app
  const cut = description !== null && description.length > longestInList
  return (
    <Row
      href={listedAppPath(app.slug)}
      avatar={<Avatar id={app.id} name={app.name} icon={app.icon} />}
      title={<bdi>{app.name}</bdi>}
      facts={[publishedBy(app)]}
      actions={<Buttons app={app} {...reader} />}
    >
      {description === null ? null : (
        <p class="row-about">
          <bdi>{cut ? `${description.slice(0, longestInList).toWellFormed()}…` : description}</bdi>
        </p>
      )}
      <Details summary="What it may do">
        <ScopeList catalogue={catalogue} scopes={app.scopes} />
      </Details>
    </Row>
  )
}

const publishedBy = ({ publisher }: Pick<ListedApp, 'publisher'>) =>
  publisher === null ? null : (
    <>
      Published by <bdi>{publisher}</bdi>
    </>
  )

type ButtonsProps = {
  readonly app: Pick<ListedApp, 'name' | 'slug' | 'scopes'>
  readonly isSignedIn: boolean
  /** Those of the reader that wait or are in use. */
  readonly installs: readonly OpenInstall[]
  /** The kinds of places that the reader may have. */
  readonly has: readonly ResourceKind[]
  /** Whether the page is about this app alone. */
  readonly isMain?: boolean
}

/** What the reader can do with an app now. Who is not signed in signs in first, and comes back to the install. */
const Buttons = ({ app, isSignedIn, installs, has, isMain = false }: ButtonsProps) => {
  const named = (
    <span class="unseen">
      {': '}
      <bdi>{app.name}</bdi>
    </span>
  )
  if (installs.length === 0) {
    const kinds = resourceKindsFor(app.scopes)
    // The page says once that the reader has no place at all.
    if (!kinds.some((kind) => has.includes(kind))) {
      return has.length === 0 ? null : <span class="muted">{noPlace(kinds)}</span>
    }
    return (
      <a class={`button small${isMain ? ' primary' : ''}`} href={installLivePath(app.slug)}>
        {isSignedIn ? 'Install' : 'Sign in to install'}
        {named}
      </a>
    )
  }
  const live = installs.filter(isInstallLive)
  const framed = live.find(({ isFramed }) => isFramed)
  return (
    <>
      <a href={accountPaths.installs}>
        <Badge tone={live.length > 0 ? 'good' : 'waiting'}>
          {live.length > 0 ? 'Installed' : 'Waiting for approval'}
        </Badge>
      </a>
      {framed === undefined ? null : (
        <SmallLink href={openInstallPath(framed.id)}>
          Open
          {named}
        </SmallLink>
      )}
    </>
  )
}

const showApp = async (door: Door, request: Request, slug: string): Promise<Response> => {
  const { frame, as, opens, has } = await readerOf(door, request)
  const app = await readListedApp(door.platform, as, slug)
  const installs = opens.filter(isOfLive(app))
  const kinds = resourceKindsFor(app.scopes)
  const canInstall = kinds.some((kind) => has.includes(kind))
  return page(
    <Layout
      {...frame}
      title={app.name}
      belongsTo="Apps"
      crumbs={[{ href: accountPaths.directory, name: 'Apps' }]}
      avatarId={app.id}
      icon={app.icon}
      about={publishedBy(app)}
      actions={
        canInstall || installs.length > 0 ? (
          <Buttons app={app} isSignedIn={as === 'signed in'} installs={installs} has={has} isMain />
        ) : undefined
      }
    >
      {canInstall ? null : <NoPlace kinds={kinds} builder={door.platform.builder} />}
      <div class="about-app">
        <AboutApp facts={app.facts} />
      </div>
      {as === 'signed in' && installs.length > 0 ? await elsewhere(frame.visit, slug) : null}
      <h2>What it may do</h2>
      <ScopeList catalogue={await readCatalogue(door.platform)} scopes={app.scopes} />
      <p class="muted">It can do this only where you install it, and only after you have agreed.</p>
      <h2>Version</h2>
      <Facts of={{ 'Current version': app.version, Since: <Time at={app.liveSince} /> }} />
    </Layout>,
  )
}

type NoPlaceProps = { readonly kinds: readonly ResourceKind[]; readonly builder: Visit['door']['platform']['builder'] }

/** Why the reader cannot install anything, and where they can make a website or store. */
const NoPlace = ({ kinds, builder }: NoPlaceProps) => (
  <p>
    {noPlace(kinds)} <BackToBuilder builder={builder} />
  </p>
)

/** The way to install it once more, if the reader has another website or store for it. */
const elsewhere = async ({ door, session }: Visit, slug: string) => {
  const question = await prepareInstall(door.platform, session, slug, 'production', null)
  if (question === null || (question.places.data.length === 0 && question.places.nextCursor === null)) return null
  return (
    <p>
      <a href={installLivePath(slug)}>Install it on another website or store</a>
    </p>
  )
}

const answerIcon = async ({ platform }: Door, sha256: string): Promise<Response> => {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw refuse('route_not_found')
  return iconAnswer(await readIconOfLive(platform, Buffer.from(sha256, 'hex')), 'everybody')
}
