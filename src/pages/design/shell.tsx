import type { ComponentChildren } from 'preact'
import { siteScript, siteStylesheet } from '../assets.ts'
import { ButtonForm } from './field.tsx'
import { noticeFor, type Notices } from '../query.ts'
import type { Visit } from '../visit.ts'

type Section = 'account' | 'console' | 'desk'

type Visitor = Pick<Visit, 'platformName'>

type LayoutProps = {
  readonly title: string
  /** Only the name of the platform when nobody is signed in, or when the page must not depend on it. */
  readonly visit: Visit | Visitor
  readonly section?: Section
  /** The area or the app that the page belongs to, for the title of the window. */
  readonly belongsTo?: string
  /** The pages of the area or of the app that this page belongs to. */
  readonly nav?: AreaNavigation
  /** Above the heading: breadcrumbs. */
  readonly above?: ComponentChildren
  /** Links and buttons on the right of the heading. */
  readonly actions?: ComponentChildren
  /** One sentence below the heading. */
  readonly about?: ComponentChildren
  /** The sentences about what a form may just have done. */
  readonly notices?: Notices
  /** `narrow` for a page with a single decision. */
  readonly width?: 'narrow' | 'wide'
  readonly children: ComponentChildren
}

/** What the frame of an area leaves to its pages. */
export type FrameProps = Pick<LayoutProps, 'title' | 'notices' | 'children' | 'actions' | 'about'> & {
  readonly visit: Visit
}

export type NavLink = {
  readonly path: string
  readonly name: string
  /** How many things wait there. */
  readonly waiting?: number
}

export type AreaNavigation = {
  /** The name of the area, for screen readers. */
  readonly label: string
  readonly links: readonly NavLink[]
  /** The path of the current page. */
  readonly current: string
}

/** The frame of every page: header, navigation, one heading and one main part. */
export const Layout = ({
  title,
  belongsTo,
  nav,
  above,
  actions,
  about,
  visit,
  section,
  notices,
  width = 'wide',
  children,
}: LayoutProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{[...new Set([title, belongsTo ?? title, visit.platformName])].join(' · ')}</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href={siteStylesheet.path} />
      <script src={siteScript.path} defer />
    </head>
    <body>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <SiteHeader visit={visit} section={section} />
      <main id="main" class={`container ${width}`} tabIndex={-1}>
        {above}
        {nav === undefined ? null : <Tabs {...nav} />}
        <div class="page-head">
          <div class="page-title">
            <h1>
              <bdi>{title}</bdi>
            </h1>
            {about === undefined ? null : <p class="about">{about}</p>}
          </div>
          {actions === undefined ? null : <div class="page-actions">{actions}</div>}
        </div>
        {notices !== undefined && 'session' in visit ? <Notice text={noticeFor(visit, notices)} /> : null}
        {children}
      </main>
    </body>
  </html>
)

const Notice = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p class="notice" role="status">
      {text}
    </p>
  )

const SiteHeader = ({ visit, section }: { readonly visit: Visit | Visitor; readonly section: Section | undefined }) => (
  <header class="site">
    <div class="container">
      <a class="brand" href="/">
        <bdi>{visit.platformName}</bdi>
      </a>
      {!('session' in visit) ? null : (
        <>
          <nav aria-label="Main">
            <ul>
              <SectionLink href="/account" name="Account" current={section === 'account'} />
              <SectionLink href="/console" name="Console" current={section === 'console'} />
              {visit.session.user.isOperator ? (
                <SectionLink href="/desk" name="Desk" current={section === 'desk'} />
              ) : null}
            </ul>
          </nav>
          <div class="who">
            <bdi class="name">{visit.session.user.name}</bdi>
            <ButtonForm action="/sign-out" visit={visit} look="outline secondary small">
              Sign out
            </ButtonForm>
          </div>
        </>
      )}
    </div>
  </header>
)

type SectionLinkProps = { readonly href: string; readonly name: string; readonly current: boolean }
const SectionLink = ({ href, name, current }: SectionLinkProps) => (
  <li>
    <a href={href} aria-current={current ? 'true' : undefined}>
      {name}
    </a>
  </li>
)

/** Links to the parts of one page, such as its environments. */
export const Tabs = ({ label, links, current }: AreaNavigation) => (
  <nav aria-label={label} class="tabs">
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

type LinkCardsProps = {
  readonly links: readonly { readonly href: string; readonly name: string; readonly about: string }[]
}

/** Links to other pages, each with a sentence about it. */
export const LinkCards = ({ links }: LinkCardsProps) => (
  <div class="cards">
    {links.map(({ href, name, about }) => (
      <article key={href}>
        <h2>
          <a href={href}>{name}</a>
        </h2>
        <p>{about}</p>
      </article>
    ))}
  </div>
)

/** The ID by which an operator finds the request in the log. */
export const RequestLine = ({ requestId }: { readonly requestId: string }) => (
  <p class="muted">
    Request <code>{requestId}</code>
  </p>
)
