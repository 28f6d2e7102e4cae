import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dir, '../..')

/** A Markdown file of the project. */
export type Document = { readonly path: string; readonly text: string }

const read = async (path: string): Promise<Document> => ({ path, text: await Bun.file(join(root, path)).text() })

const markdownIn = (folder: string): readonly string[] =>
  [...new Bun.Glob('**/*.md').scanSync(join(root, folder))].toSorted().map((path) => `${folder}/${path}`)

/** All Markdown files for readers, but not the specification, which is the product's own. */
export const documents = async (): Promise<readonly Document[]> =>
  await Promise.all([
    ...['README.md', 'src/README.md', 'src/release/README.md', 'db/README.md'].map(read),
    ...markdownIn('src/guides').map(read),
    ...markdownIn('test').map(read),
  ])

/** The guides, as `operate/settings` and so on. */
export const guide = async (name: string): Promise<string> => (await read(`src/guides/${name}.md`)).text

/** What stands between `<!-- name -->` and `<!-- /name -->`, of all places in the text. */
export const marked = (text: string, name: string): string =>
  [...text.matchAll(new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)<!-- /${name} -->`, 'g'))]
    .map(([, part = '']) => part)
    .join('')

/** The code in the first column of every row of a table. */
export const namesOf = (table: string): readonly string[] =>
  table.split('\n').flatMap(
    (row) =>
      row
        .split('|')[1]
        ?.match(/(?<=`)[^`]+(?=`)/g)
        ?.filter((_, at) => at % 2 === 0) ?? [],
  )

/** The lines of all code blocks in a language. A line that ends in a backslash continues. */
export const codeLines = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gm'))]
    .flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.trim())

/** The text without its code blocks. */
const withoutBlocks = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '')

/** Code within sentences and tables, on one line each. */
export const inlineCode = (text: string): readonly string[] =>
  [...withoutBlocks(text).matchAll(/`([^`]+)`/g)].map(([, code = '']) =>
    code.replaceAll(/\s+/g, ' ').replaceAll('\\|', '|'),
  )

/** Headings as the fragments by which they are linked. */
export const fragmentsOf = (text: string): readonly string[] =>
  [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** The links to other files and headings of the project: the file by its path, and the fragment, which may be empty. */
export const linksOf = ({ path, text }: Document) =>
  [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', fragment = ''] = target.split('#')
      const from = file === '' ? path : relative(root, join(root, dirname(path), file))
      return { target, file: from, fragment }
    })
