import type { Node } from 'jsonc-parser'
import { embedUrlFault } from '../../../domain/registered-url.ts'
import { nameFault } from '../../../domain/name.ts'
import { parseScope, scopesFor, type ScopeName } from '../../../domain/scope.ts'

/** What is wrong, and where: the node at fault. */
export type FieldFault = { readonly node: Node; readonly sentence: string }

/** Looks at the value of one field. */
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

/** The fields that the platform knows; any other is the app's own business. */
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

/** The field that a name was probably meant for; null when it is like none. */
export const meantField = (name: string): string | null => {
  const typed = plain(name)
  if (typed.length < 4) return null
  const known = Object.keys(manifestFields)
  return known.find((field) => plain(field).startsWith(typed) || typed.startsWith(plain(field))) ?? null
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
