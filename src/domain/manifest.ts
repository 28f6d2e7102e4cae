import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { type FieldFault, manifestFields, meantField, strictFaults } from './manifest-values.ts'

/** A sentence about a place in the text. Line and column are counted from 1, as editors do. */
export type PlacedSentence = { readonly line: number; readonly column: number; readonly sentence: string }

export type ParsedManifest =
  | {
      readonly kind: 'manifest'
      readonly content: Readonly<Record<string, unknown>>
      readonly scopes: readonly string[]
      /** What is allowed but probably a mistake. */
      readonly warnings: readonly PlacedSentence[]
    }
  | { readonly kind: 'faulty'; readonly faults: readonly PlacedSentence[] }

/** The text of an `app.json`, parsed and checked; or all its faults, in the order of the text. */
export const parseManifest = (text: string): ParsedManifest => {
  const at = (offset: number, sentence: string): PlacedSentence => ({ ...placeOf(text, offset), sentence })
  const tree = treeOf(text)
  if (tree.kind === 'broken') return { kind: 'faulty', faults: [at(tree.offset, tree.sentence)] }
  const { root } = tree
  const members = (root.children ?? []).map(memberOf)
  const faults = [
    ...missing(root),
    ...strictFaults(text, root),
    ...members.flatMap(({ name, value }) => ruleOf(name)?.(value) ?? []),
  ]
  if (faults.length > 0) {
    return { kind: 'faulty', faults: inOrder(faults).map(({ node, sentence }) => at(node.offset, sentence)) }
  }
  const warnings = members.flatMap(({ key, name }) => {
    const meant = ruleOf(name) === undefined ? meantField(name) : null
    return meant === null ? [] : [at(key.offset, `This field is unknown. Did you mean ${meant}?`)]
  })
  return { kind: 'manifest', ...contentOf(text), warnings }
}

const placeOf = (text: string, offset: number): Omit<PlacedSentence, 'sentence'> => {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

/** Valid by now. Duplicate names have been refused, so parsing gives what the tree has. */
const contentOf = (text: string) => {
  const content: Readonly<Record<string, unknown>> = JSON.parse(text)
  const { scopes } = content
  return { content, scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [] }
}

type Tree =
  | { readonly kind: 'object'; readonly root: Node }
  | { readonly kind: 'broken'; readonly offset: number; readonly sentence: string }

const treeOf = (text: string): Tree => {
  const errors: ParseError[] = []
  try {
    const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false })
    const [first] = errors
    if (first !== undefined) return { kind: 'broken', offset: first.offset, sentence: syntaxSentence(first) }
    if (root?.type === 'object') return { kind: 'object', root }
    return { kind: 'broken', offset: root?.offset ?? 0, sentence: 'The manifest must be an object: {"name": …}.' }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { kind: 'broken', offset: 0, sentence: 'The JSON is nested too deeply.' } // deeper than the parser's stack
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
