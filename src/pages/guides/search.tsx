import { lexer, type Token, type Tokens } from 'marked'
import { Row, RowList } from '../design/row-list.tsx'
import { fragmentOf } from './markdown.tsx'

/** A part of a guide below one heading, as a search reads it. */
type Section = {
  readonly guide: string
  readonly heading: string
  readonly href: string
  /** Its paragraphs, code blocks, list items and table rows. */
  readonly blocks: readonly string[]
  /** All of it in small letters. */
  readonly sought: string
}

type GuideText = { readonly title: string; readonly href: string; readonly text: string }

/** All sections of the guides. What comes before the first heading has the title of its guide. */
export const sectionsOf = (guides: readonly GuideText[]): readonly Section[] =>
  guides.flatMap(({ title, href, text }) => {
    const tokens = lexer(text)
    const starts = [0, ...tokens.flatMap((token, at) => (isHeading(token) && token.depth > 1 ? [at] : []))]
    return starts.map((start, at) => {
      const part = tokens.slice(start, starts[at + 1])
      const heading = at === 0 ? title : plainText(part[0]?.raw.replace(/^#+ /, '') ?? '')
      const blocks = part.flatMap(blocksOf)
      return {
        guide: title,
        heading,
        href: at === 0 ? href : `${href}#${fragmentOf(heading)}`,
        blocks,
        sought: [heading, title, ...blocks].join('\n').toLowerCase(),
      }
    })
  })

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'
const isTable = (token: Token): token is Tokens.Table => token.type === 'table'
const isList = (token: Token): token is Tokens.List => token.type === 'list'
const isCode = (token: Token): token is Tokens.Code => token.type === 'code'

const blocksOf = (token: Token): readonly string[] => {
  if (isTable(token)) return token.rows.map((row) => plainText(row.map((cell) => cell.text).join(' – ')))
  if (isList(token)) return token.items.map((item) => plainText(item.text))
  if (isCode(token)) return [token.text]
  return token.type === 'paragraph' ? [plainText(token.raw)] : []
}

/** Text without the marks of Markdown, on one line. */
const plainText = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/(?<![\w*])\*([^*\n]+)\*/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()

const mostResults = 20
const mostWords = 8

type Found = { readonly section: Section; readonly block: string; readonly score: number }

/** The sections that have every word, those with a word in their heading first. */
const search = (sections: readonly Section[], words: readonly string[]): readonly Found[] =>
  sections
    .flatMap((section) => {
      if (!words.every((word) => section.sought.includes(word))) return []
      const countIn = (text: string): number => words.filter((word) => text.toLowerCase().includes(word)).length
      const hits = section.blocks.map((block) => ({ block, count: countIn(block) }))
      const best = hits.reduce(
        (one, other) => (other.count > one.count ? other : one),
        hits[0] ?? { block: '', count: 0 },
      )
      const share = hits.filter(({ count }) => count > 0).length / (hits.length + 1)
      return [
        {
          section,
          block: best.block,
          score: countIn(section.heading) * 3 + countIn(section.guide) * 2 + best.count + share,
        },
      ]
    })
    .toSorted((a, b) => b.score - a.score)

type SearchResultsProps = { readonly sections: readonly Section[]; readonly asked: string }

/** What a search finds: for each section its heading, which leads to it, and the place with the words. */
export const SearchResults = ({ sections, asked }: SearchResultsProps) => {
  const words = asked.toLowerCase().split(/\s+/).slice(0, mostWords)
  const found = search(sections, words)
  return (
    <>
      <p role="status">{summary(found.length)}</p>
      <RowList
        label="Sections found"
        rows={found.slice(0, mostResults)}
        row={({ section, block }) => (
          <Row
            href={section.href}
            title={section.heading}
            facts={[section.heading === section.guide ? null : section.guide]}
          >
            <p class="found">
              <Marked text={excerpt(block, words)} words={words} />
            </p>
          </Row>
        )}
      />
    </>
  )
}

const summary = (count: number): string => {
  if (count === 0) return 'No section of the guides has all of these words. Try fewer or other words.'
  if (count > mostResults) return `${count} sections, the best ${mostResults} of them:`
  return count === 1 ? '1 section:' : `${count} sections:`
}

const longestExcerpt = 240

/** The part of the text around the first word that it has. */
const excerpt = (text: string, words: readonly string[]): string => {
  if (text.length <= longestExcerpt) return text
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place !== -1)
  const near = Math.max(0, Math.min(...places, text.length) - longestExcerpt / 4)
  const start = near === 0 ? 0 : near + text.slice(near).search(/\s/) + 1
  const part = text.slice(start, start + longestExcerpt)
  return `${start === 0 ? '' : '… '}${part}${start + longestExcerpt < text.length ? ' …' : ''}`
}

/** The text with the words emphasised. */
const Marked = ({ text, words }: { readonly text: string; readonly words: readonly string[] }) => {
  const anyWord = new RegExp(`(${words.map((word) => RegExp.escape(word)).join('|')})`, 'gi')
  return <>{text.split(anyWord).map((part, at) => (at % 2 === 1 ? <mark>{part}</mark> : part))}</>
}
