// The text of an `app.json`. What its fields mean is in `manifest.ts`, which does not load the parser.

import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { fieldFaults, type KnownFault, type ManifestContent, meantField, scopesInManifest } from './manifest.ts'
import { isKeptInteger, isWellFormedText } from './text.ts'

/**
 * A sentence about a place in the text. Line and column are counted from 1, as editors do. `field` is the path of a known field whose
 * value is wrong, such as `scopes.1`; null for every other fault.
 */
export type PlacedSentence = {
  readonly line: number
  readonly column: number
  readonly sentence: string
  readonly field: string | null
}

/** The sentence with its place, for those who do not see the file beside it. */
export const placedInAppJson = ({ line, column, sentence }: PlacedSentence): string =>
  `In app.json, line ${line}, column ${column}: ${sentence}`

export type ParsedManifest =
  | {
      readonly kind: 'manifest'
      readonly content: ManifestContent
      readonly scopes: readonly string[]
      /** What is allowed but probably a mistake. */
      readonly warnings: readonly PlacedSentence[]
    }
  | { readonly kind: 'faulty'; readonly faults: readonly [PlacedSentence, ...PlacedSentence[]] }

/**
 * The text of an `app.json`, parsed and checked; or all its faults, in the order of the text. `faultIn` checks what the text alone
 * does not show.
 */
export const parseManifest = (
  text: string,
  faultIn: (content: ManifestContent) => KnownFault | null = () => null,
): ParsedManifest => {
  const at = (offset: number, sentence: string, field: string | null = null): PlacedSentence => ({
    ...placeOf(text, offset),
    sentence,
    field,
  })
  const tree = treeOf(text)
  if (tree.kind === 'broken') return { kind: 'faulty', faults: [at(tree.offset, tree.sentence)] }
  const { root } = tree
  const members = (root.children ?? []).map(memberOf)
  const faults = [...missing(root), ...strictFaults(text, root), ...members.flatMap(memberFaults)]
  const [first, ...others] = inOrder(faults).map(({ node, sentence, field }) => at(node.offset, sentence, field))
  if (first !== undefined) return { kind: 'faulty', faults: [first, ...others] }
  const content = contentOf(text)
  const further = faultIn(content.content)
  if (further !== null) {
    const node = members.find(({ name }) => name === further.field)?.value ?? root
    return { kind: 'faulty', faults: [at(node.offset, further.sentence, further.field)] }
  }
  const warnings = members.flatMap(({ key, name }) => {
    const meant = meantField(name)
    return meant === null ? [] : [at(key.offset, `This field is unknown. Did you mean ${meant}?`)]
  })
  return { kind: 'manifest', ...content, warnings }
}

const placeOf = (text: string, offset: number): Pick<PlacedSentence, 'line' | 'column'> => {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

/** Valid by now. Duplicate names have been refused, so parsing gives what the tree has. */
const contentOf = (text: string) => {
  const content: ManifestContent = JSON.parse(text)
  return { content, scopes: scopesInManifest(content) }
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

const memberFaults = ({ name, value: node }: Member): readonly NodeFault[] =>
  fieldFaults(name, getNodeValue(node)).map(({ path, sentence }) => ({
    node: findNodeAtLocation(node, [...path]) ?? node,
    sentence,
    field: [name, ...path].join('.'),
  }))

const missing = (root: Node): readonly NodeFault[] =>
  (root.children ?? []).some((property) => memberOf(property).name === 'name')
    ? []
    : [{ node: root, sentence: 'The manifest has no name.' }]

const inOrder = (faults: readonly NodeFault[]): readonly NodeFault[] =>
  faults.toSorted((one, other) => one.node.offset - other.node.offset)

/** The depth that the server accepts, less one level for the upload around the manifest. */
const mostLevels = 31

/**
 * Values that JSON allows but programs read differently: numbers that are too large or too precise, and duplicate names.
 * The server refuses them but cannot say where they are, so they are found here. `text` is the source of the tree.
 */
const strictFaults = (text: string, node: Node, level = 1): readonly NodeFault[] => {
  const children = node.children ?? []
  switch (node.type) {
    case 'object':
    case 'array':
      if (level > mostLevels) return [{ node, sentence: `This is more than ${mostLevels} levels deep.` }]
      return [...twice(children), ...children.flatMap((child) => strictFaults(text, child, level + 1))]
    case 'property':
      return [...keyFaults(children[0]), ...children.slice(1).flatMap((child) => strictFaults(text, child, level))]
    case 'string':
      return isWellFormedText(String(node.value)) ? [] : [{ node, sentence: badText }]
    case 'number':
      if (!Number.isFinite(node.value)) return [{ node, sentence: 'This number is too large.' }]
      return isKeptInteger(text.slice(node.offset, node.offset + node.length))
        ? []
        : [{ node, sentence: 'This number would be rounded: write it as a text.' }]
    default:
      return []
  }
}

const badText = 'This text contains a NUL or half of a character.'

const keyFaults = (key: Node | undefined): readonly NodeFault[] => {
  if (key === undefined) return []
  const name = String(key.value)
  if (name === '__proto__') return [{ node: key, sentence: 'No field can have this name.' }]
  return isWellFormedText(name) ? [] : [{ node: key, sentence: badText }]
}

/** Every property whose name an earlier one has. */
const twice = (properties: readonly Node[]): readonly NodeFault[] => {
  const seen = new Set<unknown>()
  return properties.flatMap(({ type, children: [key] = [] }) => {
    if (type !== 'property' || key === undefined) return []
    if (seen.has(key.value)) return [{ node: key, sentence: 'This field occurs twice.' }]
    seen.add(key.value)
    return []
  })
}

/** What is wrong, and the node where it is. */
type NodeFault = { readonly node: Node; readonly sentence: string; readonly field?: string }
