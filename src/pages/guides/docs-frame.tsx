import { renderToString } from 'preact-render-to-string'

type DocsLink = { readonly href: string; readonly name: string; readonly method?: string }
export type DocsGroup = { readonly name: string; readonly links: readonly DocsLink[] }

type DocsParts = {
  /** What the list has, for screen readers. */
  readonly label: string
  readonly groups: readonly DocsGroup[]
  /** The address of this page, if the list has it. */
  readonly current: string
  /** The text, which was rendered before. */
  readonly body: string
}

/** Text with the list of its kind beside it; on phones below it. Its parts are rendered, and so escaped. */
export const docsMarkup = ({ label, groups, current, body }: DocsParts): string =>
  `<div class="guide">${body}</div>${renderToString(
    <nav class="docs-list" aria-label={label}>
      {groups.map(({ name, links }) => (
        <section>
          <p>{name}</p>
          <ul>
            {links.map((link) => (
              <li>
                <a href={link.href} aria-current={link.href === current ? 'page' : undefined}>
                  {link.method === undefined ? null : <Method of={link.method} />}
                  {link.name}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>,
  )}`

export const Method = ({ of }: { readonly of: string }) => <code class="method">{of.toUpperCase()}</code>

type TurnProps = { readonly previous: DocsLink | undefined; readonly next: DocsLink | undefined }

/** The pages before and after this one. */
export const Turn = ({ previous, next }: TurnProps) => (
  <nav class="docs-turn" aria-label="Previous and next">
    {previous === undefined ? (
      <span />
    ) : (
      <span>
        Previous:{' '}
        <a href={previous.href} rel="prev">
          {previous.name}
        </a>
      </span>
    )}
    {next === undefined ? null : (
      <span>
        Next:{' '}
        <a href={next.href} rel="next">
          {next.name}
        </a>
      </span>
    )}
  </nav>
)
