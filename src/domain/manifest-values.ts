import type { Node } from 'jsonc-parser'
import { nameFault } from './name.ts'
import { embedUrlFault } from './registered-url.ts'
import { parseScope, type ScopeName, scopesFor } from './scope.ts'
import { isKeptInteger, isWellFormedText } from './text.ts'

/** The depth that the server accepts, less one level for the upload around the manifest. */
const mostLevels = 31

/**
 * Values that JSON allows but programs read differently: numbers that are too large or too precise, and duplicate names.
 * The server refuses them but cannot say where they are, so they are found here. `text` is the source of the tree.
 */
export const strictFaults = (text: string, node: Node, level = 1): readonly FieldFault[] => {
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
export type FieldFault = { readonly node: Node; readonly sentence: string }

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
const issuable: readonly ScopeName[] = [...new Set([...scopesFor('app'), ...scopesFor('user')])].toSorted()

/** The fields that the platform knows. The app may add others. */
export const manifestFields: Readonly<Record<string, FieldRule>> = {
  name: textField('name', nameFault),
  description: textField('description', (text) =>
    text.length > longestText ? `description must have at most ${longestText} characters.` : null,
  ),
  scopes: scopesField,
  embedUrl: textField('embedUrl', (text) => {
    return addressFault('embedUrl', ['https:'])(text) ?? embedUrlFault({ embedUrl: text })
  }),
  supportUrl: textField('supportUrl', addressFault('supportUrl', ['https:', 'mailto:'])),
}

/** The known field that a misspelt name probably means; null if none is similar. */
export const meantField = (name: string): string | null => {
  const typed = plain(name)
  if (typed.length < 4) return null
  const known = Object.keys(manifestFields)
  return known.find((field) => plain(field).startsWith(typed) || typed.startsWith(plain(field))) ?? null
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
