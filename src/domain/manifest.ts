import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { typedName } from './entered-name.ts'
import { embedUrlFault } from './registered-url.ts'
import { issuable, parseScope } from './scope.ts'
import { isKeptInteger, isWellFormedText } from './text.ts'

/** A sentence about a place in the text. Line and column are counted from 1, as editors do. */
export type PlacedSentence = { readonly line: number; readonly column: number; readonly sentence: string }

type ParsedManifest =
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

/** The depth that the server accepts, less one level for the upload around the manifest. */
const mostLevels = 31

/**
 * Values that JSON allows but programs read differently: numbers that are too large or too precise, and duplicate names.
 * The server refuses them but cannot say where they are, so they are found here. `text` is the source of the tree.
 */
const strictFaults = (text: string, node: Node, level = 1): readonly FieldFault[] => {
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

const keyFaults = (key: Node | undefined): readonly FieldFault[] => {
  if (key === undefined) return []
  const name = String(key.value)
  if (name === '__proto__') return [{ node: key, sentence: 'No field can have this name.' }]
  return isWellFormedText(name) ? [] : [{ node: key, sentence: badText }]
}

/** Every property whose name an earlier one has. */
const twice = (properties: readonly Node[]): readonly FieldFault[] => {
  const seen = new Set<unknown>()
  return properties.flatMap(({ type, children: [key] = [] }) => {
    if (type !== 'property' || key === undefined) return []
    if (seen.has(key.value)) return [{ node: key, sentence: 'This field occurs twice.' }]
    seen.add(key.value)
    return []
  })
}

/** What is wrong, and the node where it is. */
type FieldFault = { readonly node: Node; readonly sentence: string }

/** Checks the value of one field. */
type FieldRule = (node: Node) => readonly FieldFault[]

const longestText = 2000

const fault = (node: Node, sentence: string): readonly FieldFault[] => [{ node, sentence }]

const textField =
  (field: string, faultIn: (text: string) => string | null): FieldRule =>
  (node) => {
    const value: unknown = node.value
    if (typeof value !== 'string') return fault(node, `${field} must be a text.`)
    const sentence = faultIn(value)
    return sentence === null ? [] : fault(node, sentence)
  }

const addressFault = (field: string, schemes: readonly string[]) => (text: string) => {
  const url = URL.parse(text)
  const isGood = url !== null && schemes.includes(url.protocol) && url.username === '' && url.password === ''
  return isGood
    ? null
    : `${field} must be an address that begins with ${schemes.map((scheme) => scheme + (scheme === 'https:' ? '//' : '')).join(' or ')}.`
}

const scopesField: FieldRule = (node) => {
  if (node.type !== 'array') return fault(node, 'scopes must be a list of scope names.')
  return (node.children ?? []).flatMap((item) => {
    const name: unknown = item.value
    if (typeof name !== 'string') return fault(item, 'A scope is a text.')
    const parsed = name.includes(' ') ? null : parseScope(name)
    if (parsed?.kind === 'scopes') return []
    if (parsed?.kind === 'refused' && parsed.code === 'scope_not_available') {
      return fault(item, 'This scope is planned or restricted: no app can have it yet.')
    }
    return fault(item, `There is no such scope. There are: ${issuable.join(', ')}.`)
  })
}

/** The fields that the platform knows. The app may add others. */
const manifestFields: Readonly<Record<string, FieldRule>> = {
  name: textField('name', (text) => typedName(text).fault),
  description: textField('description', (text) =>
    text.length > longestText ? `description must have at most ${longestText} characters.` : null,
  ),
  scopes: scopesField,
  embedUrl: textField('embedUrl', (text) => {
    return addressFault('embedUrl', ['https:'])(text) ?? embedUrlFault({ embedUrl: text })
  }),
  websiteUrl: textField('websiteUrl', addressFault('websiteUrl', ['https:'])),
  supportUrl: textField('supportUrl', addressFault('supportUrl', ['https:', 'mailto:'])),
  privacyUrl: textField('privacyUrl', addressFault('privacyUrl', ['https:'])),
}

/** What an app says about itself to those who decide whether to trust it. Null where it says nothing, or nothing that can be shown. */
export type AppFacts = {
  readonly description: string | null
  readonly websiteUrl: string | null
  readonly supportUrl: string | null
  readonly privacyUrl: string | null
}

/** The facts in a stored manifest. Versions of the API may have anything in it, so each value is checked again. */
export const appFactsIn = (manifest: Readonly<Record<string, unknown>>): AppFacts => {
  const textOf = (field: keyof AppFacts): string => {
    const value = manifest[field]
    return typeof value === 'string' && value.length <= longestText ? value : ''
  }
  const addressOf = (field: keyof AppFacts, ...schemes: readonly string[]) => {
    const address = textOf(field)
    return addressFault(field, schemes)(address) === null ? address : null
  }
  const description = textOf('description').trim()
  return {
    description: isWellFormedText(description) && description !== '' ? description : null,
    websiteUrl: addressOf('websiteUrl', 'https:'),
    supportUrl: addressOf('supportUrl', 'https:', 'mailto:'),
    privacyUrl: addressOf('privacyUrl', 'https:'),
  }
}

/** The known field that a misspelt name probably means; null if none is similar. */
const meantField = (name: string): string | null => {
  const typed = plain(name)
  if (typed.length < 4) return null
  const known = Object.keys(manifestFields)
  return known.find((field) => plain(field).startsWith(typed) || typed.startsWith(plain(field))) ?? null
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
