import type { ComponentChildren } from 'preact'
import { favicon, siteScript, siteStylesheet } from '../assets.ts'
import { page } from '../page.ts'
import { noticeFor, type Notices } from '../query.ts'
import type { Visit } from '../visit.ts'
import { Avatar } from './avatar.tsx'
import { Problem } from './field.tsx'
import { Form, MainLink } from './form.tsx'
import { Icon, type IconName, Mark } from './icon.tsx'
import { Count } from './list-tools.tsx'

type Section = 'home' | 'apps' | 'account' | 'console' | 'desk'

/** What every page says of the platform and its builder: `door.platform` is enough. */
export type PlatformFrame = Pick<Visit['door']['platform'], 'platformName' | 'builder'>
type Builder = PlatformFrame['builder']
/** Somebody who is not signed in, or a page that must not depend on it. */
type Visitor = PlatformFrame & Pick<Visit, 'refused'>

type LayoutProps = {
  readonly title: string
  readonly visit: Visit | Visitor
  readonly section?: Section
  /** The area or the app that the page belongs to, for the title of the window. */
  readonly belongsTo?: string
  /** The pages of the area or of the app that this page belongs to. */
  readonly nav?: AreaNavigation
  /** The pages above this one that its area does not name, from the outermost. */
  readonly crumbs?: readonly Crumb[]
  /** The ID of what the heading names, for its avatar. */
  readonly avatarId?: string
  /** The icon of the app that the heading names. */
  readonly icon?: string | null
  /** Short words about the state of what the heading names, beside it. */
  readonly badges?: ComponentChildren
  /** Links and buttons on the right of the heading. */
  readonly actions?: ComponentChildren
  /** One sentence below the heading. */
  readonly about?: ComponentChildren
  /** The sentences about what a form may just have done. */
  readonly notices?: Notices
  /** For work that goes on: the page is loaded again every few seconds, also without script. */
  readonly reloads?: boolean
  /** `narrow` for a page with a single decision. */
  readonly width?: 'narrow' | 'wide'
  readonly children: ComponentChildren
}

/** What the frame of an area leaves to its pages. */
export type FrameProps = Pick<
  LayoutProps,
  'title' | 'notices' | 'children' | 'crumbs' | 'avatarId' | 'icon' | 'badges' | 'actions' | 'about' | 'reloads'
> & {
  readonly visit: Visit
}

export type NavLink = {
  readonly path: string
  readonly name: string
  readonly icon?: IconName
  /** The name above this link and the following ones of the same group, on a wide window. */
  readonly group?: string
  /** How many things wait there. */
  readonly waiting?: number
}

export type AreaNavigation = {
  /** The name of the area, for screen readers. */
  readonly label: string
  readonly links: readonly NavLink[]
  /** The path of the current page. */
  readonly current: string
  /** Above the links on a wide window: what they belong to. */
  readonly head?: ComponentChildren
  /** The pages above the area. */
  readonly above?: readonly Crumb[]
}

/** The frame of every page: header, navigation, one heading and one main part. */
export const Layout = (props: LayoutProps) => {
  const {
    title,
    belongsTo,
    nav,
    crumbs = [],
    avatarId,
    icon = null,
    badges,
    actions,
    about,
    visit,
    section,
    notices,
    width = 'wide',
    reloads = false,
    children,
  } = props
  const isSignedIn = 'session' in visit
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {reloads ? <meta http-equiv="refresh" content="5" /> : null}
        <title>{[...new Set([title, belongsTo ?? title, visit.platformName])].join(' · ')}</title>
        <link rel="icon" type="image/svg+xml" href={favicon.path} />
        <link rel="stylesheet" href={siteStylesheet.path} />
        <script src={siteScript.path} defer />
      </head>
      <body class={isSignedIn ? 'signed-in' : `visiting ${width}`}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="site">
          <BackToBuilder builder={isSignedIn ? visit.door.platform.builder : visit.builder} />
          <a class="brand" href="/">
            <Mark />
            <bdi>{visit.platformName}</bdi>
          </a>
          {isSignedIn ? <MainNavigation visit={visit} section={section} /> : null}
          {nav === undefined ? null : <AreaLinks {...nav} />}
          {isSignedIn ? <Who visit={visit} /> : null}
        </header>
        <main id="main" class={width} tabIndex={-1}>
          <Crumbs links={crumbsOf(nav, crumbs, isSignedIn ? visit.call.path : '')} />
          <div class="page-head">
            {avatarId === undefined ? null : <Avatar id={avatarId} name={title} icon={icon} />}
            <div class="page-title">
              <div class="page-heading">
                <h1>
                  <bdi>{title}</bdi>
                </h1>
                {badges}
              </div>
              {about === undefined ? null : <p class="about">{about}</p>}
            </div>
            {actions === undefined || actions === null ? null : <div class="page-actions">{actions}</div>}
          </div>
          {notices !== undefined && isSignedIn ? <Notice text={noticeFor(visit, notices)} /> : null}
          <Problem error={visit.refused?.error} />
          {children}
        </main>
        {width === 'narrow' ? null : <SiteFooter />}
      </body>
    </html>
  )
}

/** The way back to the website builder, if one is set. */
export const BackToBuilder = ({ builder }: { readonly builder: Builder }) =>
  builder === null ? null : (
    <a class="to-builder" href={builder.url}>
      <span aria-hidden="true">← </span>
      Back to <bdi>{builder.name}</bdi>
    </a>
  )

const Notice = ({ text }: { readonly text: ComponentChildren }) =>
  text === null ? null : (
    <p class="notice" role="status">
      {text}
    </p>
  )

type MainNavigationProps = { readonly visit: Visit; readonly section: Section | undefined }

const MainNavigation = ({ visit, section }: MainNavigationProps) => {
  return (
    <nav aria-label="Main" class="areas">
      <ul>
        {areas
          .filter(({ key }) => isFor(visit, section, key))
          .map(({ key, href, name, icon }) => (
            <li key={key} class={key}>
              <a href={href} aria-current={key === section ? 'true' : undefined}>
                <Icon name={icon} />
                {name}
                {key === 'desk' ? <WaitingCount of={visit.waiting?.reviews} and={visit.waiting?.installs} /> : null}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  )
}

const areas = [
  { key: 'home', href: '/', name: 'Home', icon: 'home' },
  { key: 'apps', href: '/installs', name: 'Apps', icon: 'apps' },
  { key: 'account', href: '/account', name: 'Account', icon: 'user' },
  { key: 'console', href: '/console', name: 'Developers', icon: 'code' },
  { key: 'desk', href: '/desk', name: 'Desk', icon: 'shield' },
] as const

/** People without an app find the way to their first one on Home, and are then in the developers' area before they have it. */
const isFor = ({ session, hasApps }: Visit, section: Section | undefined, area: Section): boolean => {
  if (area === 'desk') return session.user.isOperator
  return area !== 'console' || hasApps || section === 'console'
}

/** Who is signed in, and the way out. */
const Who = ({ visit }: { readonly visit: Visit }) => (
  <div class="who">
    <Avatar id={visit.userId} name={visit.session.user.name} small />
    <bdi class="name">{visit.session.user.name}</bdi>
    <Form action="/sign-out" visit={visit}>
      <button type="submit" class="quiet small">
        <Icon name="out" />
        <span class="unseen">Sign out</span>
      </button>
    </Form>
  </div>
)

/** The pages of one area: below the areas on a wide window, a row of tabs on a phone. */
const AreaLinks = ({ label, links, current, head }: AreaNavigation) => (
  <nav aria-label={label} class="area">
    {head === undefined ? null : <div class="area-head">{head}</div>}
    <ul>
      {links.map(({ path, name, icon, group, waiting = 0 }, index) => (
        <>
          {group === undefined || group === links[index - 1]?.group ? null : <li class="area-name">{group}</li>}
          <li key={path}>
            <a href={path} aria-current={path === current ? 'page' : undefined}>
              {icon === undefined ? null : <Icon name={icon} />}
              {name}
              <WaitingCount of={waiting} />
            </a>
          </li>
        </>
      ))}
    </ul>
  </nav>
)

type WaitingCountProps = { readonly of: number | undefined; readonly and?: number | undefined }

/** How many things wait behind a link; nothing if none does. */
const WaitingCount = ({ of = 0, and = 0 }: WaitingCountProps) =>
  of + and === 0 ? null : (
    <>
      {' '}
      <Count of={of + and} most={99} />
      <span class="unseen"> waiting</span>
    </>
  )

const SiteFooter = () => (
  <footer class="site">
    <a href="/apps">Apps</a>
    <a href="/docs/guides">Guides</a>
    <a href="/docs/reference">API reference</a>
  </footer>
)

type TabsLook = { readonly look?: 'tabs' | 'tabs switch' }

/** Links to the parts of one page, or as a switch to the same page for something else, such as the other environment. */
export const Tabs = ({ label, links, current, look = 'tabs' }: AreaNavigation & TabsLook) => (
  <nav aria-label={label} class={look}>
    <ul>
      {links.map(({ path, name }) => (
        <li key={path}>
          <a href={path} aria-current={path === current ? 'page' : undefined}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

/** A page above another one. */
type Crumb = { readonly href: string; readonly name: string; readonly avatarId?: string }

/** The way back from a page: what is above its area, the page of the area that it is below, and what it names itself. */
const crumbsOf = (nav: AreaNavigation | undefined, named: readonly Crumb[], path: string): readonly Crumb[] => {
  const current = nav?.links.find((link) => link.path === nav.current)
  const own = current === undefined ? [] : [{ href: current.path, name: current.name }]
  const isNamed = (href: string) => named.some((crumb) => pathIn(crumb.href) === pathIn(href))
  return [...[...(nav?.above ?? []), ...own].filter(({ href }) => !isNamed(href)), ...named].filter(
    ({ href }) => pathIn(href) !== path,
  )
}

const pathIn = (href: string): string => href.split('?', 1)[0] ?? ''

const Crumbs = ({ links }: { readonly links: readonly Crumb[] }) =>
  links.length === 0 ? null : (
    <p class="crumbs">
      {links.map(({ href, name, avatarId }) => (
        <a key={href} href={href}>
          {avatarId === undefined ? null : <Avatar id={avatarId} name={name} small />}
          <bdi>{name}</bdi>
        </a>
      ))}
    </p>
  )

type Words = {
  readonly title: string
  readonly says: ComponentChildren
  /** Where it leads, and the words of the link. */
  readonly to: readonly [href: string, words: string]
  readonly section?: Section
  /** More, below the link. */
  readonly more?: ComponentChildren
  readonly options?: Parameters<typeof page>[1]
}

/** A page of a few words and one way on. */
export const wordsPage = (
  visit: Visit | PlatformFrame,
  { title, says, to: [href, words], section, more, options }: Words,
): Response =>
  page(
    <Layout title={title} visit={visit} {...(section && { section })} width="narrow">
      <p>{says}</p>
      <p>
        <MainLink href={href}>{words}</MainLink>
      </p>
      {more}
    </Layout>,
    options,
  )

/** The ID by which an operator finds the request in the log. */
export const RequestLine = ({ requestId }: { readonly requestId: string }) => (
  <p class="muted">
    Request <code>{requestId}</code>
  </p>
)
