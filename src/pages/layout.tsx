import type { ComponentChildren } from 'preact'
import { siteScript, siteStylesheet } from './assets.ts'
import { Form } from './components/form.tsx'
import type { Visit } from './visit.ts'

type Section = 'account' | 'console' | 'desk'

type Nobody = Pick<Visit, 'platformName'>

type LayoutProps = {
  readonly title: string
  /** Only the name of the platform where nobody is signed in, or where it must not matter who is. */
  readonly visit: Visit | Nobody
  readonly section?: Section
  /** What the page is a part of, for the title of the window. */
  readonly belongsTo?: string
  /** Stands over the heading: where one is, and the other pages there. */
  readonly above?: ComponentChildren
  /** A sentence about what was just done. */
  readonly notice?: string | null
  /** `narrow` for a page with one thing to decide. */
  readonly width?: 'narrow' | 'wide'
  readonly children: ComponentChildren
}

/** The frame of every page: one heading, one main part, the way to everything else. */
export const Layout = ({ title, belongsTo, above, visit, section, notice, width = 'wide', children }: LayoutProps) => (
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
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {notice ? (
          <p class="notice" role="status">
            {notice}
          </p>
        ) : null}
        {children}
      </main>
    </body>
  </html>
)

const SiteHeader = ({ visit, section }: { readonly visit: Visit | Nobody; readonly section: Section | undefined }) => (
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
            <Form action="/sign-out" visit={visit}>
              <button type="submit" class="outline secondary small">
                Sign out
              </button>
            </Form>
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
