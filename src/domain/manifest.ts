import { pathFaults } from './archive-path.ts'
import { disturbs, typedName } from './entered-name.ts'
import { embedUrlFault, isPlainAddress } from './registered-url.ts'
import { issuable, parseScope } from './scope.ts'

/** What is wrong with a known field, by its path, such as `scopes.1`. */
export type KnownFault = { readonly field: string; readonly sentence: string }

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
    return isPlainAddress(text, ...schemes)
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

/** What is wrong with the value of a field. An unknown one may have any. */
export const fieldFaults = (name: string, value: unknown): readonly FieldFault[] => ruleOf(name)?.(value) ?? []

/** A parsed manifest, of which a program may send any part. */
export type ManifestContent = Readonly<Record<string, unknown>>

/** The first known field whose value is wrong, as a path such as `scopes.1`, and what is wrong with it; null if none is. */
export const manifestFault = (content: ManifestContent): KnownFault | null => {
  for (const [name, value] of Object.entries(content)) {
    const [first] = fieldFaults(name, value)
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
    return typeof value === 'string' && value.trim() !== '' && fieldFaults(field, value).length === 0
      ? value.trim()
      : null
  }
  return {
    description: textOf('description'),
    websiteUrl: textOf('websiteUrl'),
    supportUrl: textOf('supportUrl'),
    privacyUrl: textOf('privacyUrl'),
  }
}

/** The known field that a misspelt name probably means; null for a known name, and if none is similar. */
export const meantField = (name: string): string | null => {
  const typed = plain(name)
  if (typed.length < 4 || ruleOf(name) !== undefined) return null
  return knownFields.find((field) => plain(field).startsWith(typed) || typed.startsWith(plain(field))) ?? null
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
