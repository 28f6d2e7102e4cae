import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { pathFaults } from './archive-path.ts'
import { disturbs, typedName } from './entered-name.ts'
import { embedUrlFault } from './registered-url.ts'
import { issuable, parseScope } from './scope.ts'
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

/** What is wrong with a known field, by its path, such as `scopes.1`. */
type KnownFault = { readonly field: string; readonly sentence: string }

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
  const faults = [...missing(root), ...strictFaults(text, root), ...members.flatMap(fieldFaults)]
  const [first, ...others] = inOrder(faults).map(({ node, sentence, field }) => at(node.offset, sentence, field))
  if (first !== undefined) return { kind: 'faulty', faults: [first, ...others] }
  const content = contentOf(text)
  const further = faultIn(content.content)
  if (further !== null) {
    const node = members.find(({ name }) => name === further.field)?.value ?? root
    return { kind: 'faulty', faults: [at(node.offset, further.sentence, further.field)] }
  }
  const warnings = members.flatMap(({ key, name }) => {
    const meant = ruleOf(name) === undefined ? meantField(name) : null
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

const fieldFaults = ({ name, value: node }: Member): readonly NodeFault[] =>
  faultsOf(name, getNodeValue(node)).map(({ path, sentence }) => ({
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

/** What is wrong with the value of a field, and the path from that value to the part that is wrong. */
type FieldFault = { readonly path: readonly (string | number)[]; readonly sentence: string }

/** Checks the value of one field. */
type FieldRule = (value: unknown) => readonly FieldFault[]

const longestText = 2000

const fault = (sentence: string, ...path: FieldFault['path']): readonly FieldFault[] => [{ path, sentence }]

const textField =
  (field: string, faultIn: (text: string) => string | null): FieldRule =>
  (value) => {
    const sentence = typeof value === 'string' ? faultIn(value) : `${field} must be a text.`
    return sentence === null ? [] : fault(sentence)
  }

const addressField = (field: string, ...schemes: readonly string[]): FieldRule =>
  textField(field, (text) => {
    const url = URL.parse(text)
    const isGood = url !== null && schemes.includes(url.protocol) && url.username === '' && url.password === ''
    return isGood
      ? null
      : `${field} must be an address that begins with ${schemes.map((scheme) => scheme + (scheme === 'https:' ? '//' : '')).join(' or ')}.`
  })

const scopesField: FieldRule = (value) => {
  if (!Array.isArray(value)) return fault('scopes must be a list of scope names.')
  return value.flatMap((name: unknown, index) => {
    if (typeof name !== 'string') return fault('A scope is a text.', index)
    const parsed = name.includes(' ') ? null : parseScope(name)
    if (parsed?.kind === 'scopes') return []
    if (parsed?.kind === 'refused' && parsed.code === 'scope_not_available') {
      return fault('This scope is planned or restricted: no app can have it yet.', index)
    }
    return fault(`There is no such scope. There are: ${issuable.join(', ')}.`, index)
  })
}

/** The fields that the platform knows. The app may add others. */
const manifestFields: Readonly<Record<string, FieldRule>> = {
  name: textField('name', (text) => typedName(text).fault),
  description: textField('description', (text) => {
    if (text.length > longestText) return `description must have at most ${longestText} characters.`
    return disturbs(text) ? 'description has characters that reverse or cover other text.' : null
  }),
  icon: textField('icon', (text) =>
    pathFaults([text]).length > 0 || text.endsWith('/')
      ? 'icon must be the path of a PNG, JPEG or WebP file in the archive, such as icon.png.'
      : null,
  ),
  scopes: scopesField,
  embedUrl: textField('embedUrl', (text) => embedUrlFault({ embedUrl: text })),
  websiteUrl: addressField('websiteUrl', 'https:'),
  supportUrl: addressField('supportUrl', 'https:', 'mailto:'),
  privacyUrl: addressField('privacyUrl', 'https:'),
}
/** For the documentation of the API. */
export const knownFields: readonly string[] = Object.keys(manifestFields)

const ruleOf = (name: string) => (Object.hasOwn(manifestFields, name) ? manifestFields[name] : undefined)
const faultsOf = (name: string, value: unknown): readonly FieldFault[] => ruleOf(name)?.(value) ?? []

/** A parsed manifest, of which a program may send any part. */
export type ManifestContent = Readonly<Record<string, unknown>>

/** The first known field whose value is wrong, as a path such as `scopes.1`, and what is wrong with it; null if none is. */
export const manifestFault = (content: ManifestContent): KnownFault | null => {
  for (const [name, value] of Object.entries(content)) {
    const [first] = faultsOf(name, value)
    if (first !== undefined) return { field: [name, ...first.path].join('.'), sentence: first.sentence }
  }
  return null
}

/** The scopes that a manifest without faults lists. */
export const scopesInManifest = ({ scopes }: ManifestContent): readonly string[] =>
  Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : []

/** What a manifest lacks that `app.json` must have, which a person should know before they submit or approve it; null if nothing. */
export const lackOfManifest = (content: ManifestContent): string | null => {
  if (Object.hasOwn(content, 'name')) return null
  return Object.keys(content).length === 0
    ? 'This version has no manifest.'
    : 'The manifest of this version has no name.'
}

/** What an app says about itself to those who decide whether to trust it. Null where it says nothing, or nothing that can be shown. */
export type AppFacts = {
  readonly description: string | null
  readonly websiteUrl: string | null
  readonly supportUrl: string | null
  readonly privacyUrl: string | null
}

/** The facts in a stored manifest. Nothing is shown of a value that the rules refuse. */
export const appFactsIn = (manifest: ManifestContent): AppFacts => {
  const textOf = (field: keyof AppFacts) => {
    const value = manifest[field]
    return typeof value === 'string' && value.trim() !== '' && faultsOf(field, value).length === 0 ? value.trim() : null
  }
  return {
    description: textOf('description'),
    websiteUrl: textOf('websiteUrl'),
    supportUrl: textOf('supportUrl'),
    privacyUrl: textOf('privacyUrl'),
  }
}

/** The known field that a misspelt name probably means; null if none is similar. */
const meantField = (name: string): string | null => {
  const typed = plain(name)
  if (typed.length < 4) return null
  return knownFields.find((field) => plain(field).startsWith(typed) || typed.startsWith(plain(field))) ?? null
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
