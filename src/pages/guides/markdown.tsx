import { Lexer, lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { Table } from '../design/table.tsx'
import { CodeBlock, Details } from '../design/values.tsx'

/** The parts of Markdown that guides use. Of any other part, and of markers for tests, nothing is shown. */
const isKnown = (token: Token): token is MarkedToken => token.type in shown
const shown = {
  heading: true,
  paragraph: true,
  list: true,
  table: true,
  code: true,
  text: true,
  escape: true,
  strong: true,
  em: true,
  codespan: true,
  link: true,
} as const

/** A guide without its title, as markup. All text is escaped, because no HTML is made of it. */
export const Markdown = ({ text }: { readonly text: string }) => {
  let heading = ''
  let examples = 0
  return (
    <>
      {lexer(text)
        .filter(isKnown)
        .map((token) => {
          if (token.type === 'heading') heading = token.text
          if (token.type === 'code') examples += 1
          return <Block token={token} heading={heading} example={examples} />
        })}
    </>
  )
}

/** A sentence in which names and addresses are marked. */
export const InlineMarkdown = ({ text }: { readonly text: string }) => <span>{inline(Lexer.lexInline(text))}</span>

/** Links to the headings below the title, if there are many. */
export const Contents = ({ text }: { readonly text: string }) => {
  const headings = lexer(text).filter(isHeading)
  return headings.length < 4 ? null : (
    <Details summary="On this page">
      <ul class="contents">
        {headings.map((heading) => (
          <li>
            <a href={`#${fragmentOf(heading.text)}`}>{inline(heading.tokens)}</a>
          </li>
        ))}
      </ul>
    </Details>
  )
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2

type BlockProps = {
  readonly token: MarkedToken
  /** The heading above, which names a table. */
  readonly heading: string
  /** The number of a code block in its guide. */
  readonly example: number
}

const Block = ({ token, heading, example }: BlockProps) => {
  switch (token.type) {
    case 'heading':
      return <Heading token={token} />
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>
    case 'text':
      return <>{inline(token.tokens ?? [token])}</>
    case 'list':
      return <List token={token} heading={heading} example={example} />
    case 'table':
      return <Table label={heading} rows={token.rows} columns={columnsOf(token)} class="prose" />
    case 'code':
      return <CodeBlock id={`example-${example}`} label={`Example ${example}`} code={token.text} />
    default:
      return null
  }
}

/** The layout shows the title. */
const Heading = ({ token: { depth, text, tokens } }: { readonly token: Tokens.Heading }) => {
  if (depth === 1) return null
  const id = fragmentOf(text)
  return depth === 2 ? <h2 id={id}>{inline(tokens)}</h2> : <h3 id={id}>{inline(tokens)}</h3>
}

const List = ({ token, heading, example }: BlockProps & { readonly token: Tokens.List }) => {
  const items = token.items.map((item) => (
    <li>
      {item.tokens.filter(isKnown).map((part, at) => (
        <Block token={part} heading={heading} example={example * 100 + at} />
      ))}
    </li>
  ))
  return token.ordered ? <ol start={Number(token.start)}>{items}</ol> : <ul>{items}</ul>
}

/** On a phone the parts of a cell would stand below each other, if they were not one element. */
const columnsOf = ({ header }: Tokens.Table) =>
  Object.fromEntries(
    header.map(({ text }, at) => [
      text,
      (row: Tokens.TableCell[]) => {
        const tokens = row[at]?.tokens ?? []
        return tokens.length === 0 ? null : <span>{inline(tokens)}</span>
      },
    ]),
  )

const inline = (tokens: readonly Token[]): ComponentChildren => tokens.filter(isKnown).map(inlinePart)

const inlinePart = (token: MarkedToken): ComponentChildren => {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>
    case 'em':
      return <em>{inline(token.tokens)}</em>
    case 'codespan':
      return <code>{token.text}</code>
    case 'link':
      return <a href={addressOf(token.href)}>{inline(token.tokens)}</a>
    case 'escape':
    case 'text':
      return token.text
    default:
      return null
  }
}

/** Guides link to the files of other guides. */
const addressOf = (href: string): string => href.replace(/^(?!https?:).*?([^/#]*)\.md(#|$)/, '/docs/guides/$1$2')

/** The fragment by which a heading is linked, as in other places that show Markdown. */
export const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
