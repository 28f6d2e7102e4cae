import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { readFileSync, statSync } from 'node:fs'
import { CommandFailed } from '../../output.ts'
import { type FieldFault, manifestFields, meantField, placeOf, strictFaults } from './strict-values.ts'

export type Manifest = {
  readonly content: Readonly<Record<string, unknown>>
  readonly scopes: readonly string[]
  /** Warnings: what is allowed but probably a mistake. */
  readonly warnings: readonly string[]
}

const longestBytes = 256 * 1024

/**
 * Reads and checks `app.json`.
 * @throws CommandFailed with all faults, each with file, line and column
 */
export const readManifest = (file: string): Manifest => {
  const text = textOf(file)
  const at = (offset: number, sentence: string) => `${file}:${placeOf(text, offset)}: ${sentence}`
  const root = treeOf(text, at)
  const members = (root.children ?? []).map(memberOf)
  const faults = [
    ...missing(root),
    ...strictFaults(text, root),
    ...members.flatMap(({ name, value }) => ruleOf(name)?.(value) ?? []),
  ]
  if (faults.length > 0) throw new CommandFailed(inOrder(faults).map(({ node, sentence }) => at(node.offset, sentence)))
  const unknown = members.filter(({ name }) => ruleOf(name) === undefined)
  return {
    ...contentOf(text),
    warnings: unknown.flatMap(({ key, name }) => {
      const meant = meantField(name)
      return meant === null ? [] : [at(key.offset, `This field is unknown. Did you mean ${meant}?`)]
    }),
  }
}

/** Valid by now. Duplicate names have been refused, so parsing gives what the tree has. */
const contentOf = (text: string): Pick<Manifest, 'content' | 'scopes'> => {
  const content: Readonly<Record<string, unknown>> = JSON.parse(text)
  const { scopes } = content
  return { content, scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [] }
}

const textOf = (file: string): string => {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) {
    throw new CommandFailed([
      `There is no manifest ${file}. Write one, such as {"name":"My app","scopes":["site:read"]}, or name another file with --manifest.`,
    ])
  }
  if (!found.isFile()) throw new CommandFailed([`The manifest ${file} is not a file.`])
  if (found.size > longestBytes) throw new CommandFailed([`The manifest ${file} is larger than 256 KiB.`])
  const bytes = orFail(() => readFileSync(file), `The manifest ${file} cannot be read. See that you may read it.`)
  return orFail(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes), `The manifest ${file} is not UTF-8.`)
}

const orFail = <T>(work: () => T, sentence: string): T => {
  try {
    return work()
  } catch {
    throw new CommandFailed([sentence])
  }
}

type At = (offset: number, sentence: string) => string

const treeOf = (text: string, at: At): Node => {
  const errors: ParseError[] = []
  const root = parsed(text, errors, at)
  const [first] = errors
  if (first !== undefined) throw new CommandFailed([at(first.offset, syntaxSentence(first))])
  if (root?.type === 'object') return root
  throw new CommandFailed([at(root?.offset ?? 0, 'The manifest must be an object: {"name": …}.')])
}

const parsed = (text: string, errors: ParseError[], at: At): Node | undefined => {
  try {
    return parseTree(text, errors, { disallowComments: true, allowTrailingComma: false })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new CommandFailed([at(0, 'The JSON is nested too deeply.')]) // deeper than the parser's stack
  }
}

/** `PropertyNameExpected`: The JSON is broken here: property name expected. */
const syntaxSentence = ({ error }: ParseError): string => {
  const words = printParseErrorCode(error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
  return `The JSON is broken here: ${words.toLowerCase()}.`
}

type Member = { readonly key: Node; readonly name: string; readonly value: Node }

const memberOf = (property: Node): Member => {
  const [key = property, value = property] = property.children ?? []
  return { key, name: String(key.value), value }
}

const ruleOf = (name: string) => (Object.hasOwn(manifestFields, name) ? manifestFields[name] : undefined)

const missing = (root: Node): readonly FieldFault[] =>
  (root.children ?? []).some((property) => memberOf(property).name === 'name')
    ? []
    : [{ node: root, sentence: 'The manifest has no name.' }]

const inOrder = (faults: readonly FieldFault[]): readonly FieldFault[] =>
  faults.toSorted((one, other) => one.node.offset - other.node.offset)
