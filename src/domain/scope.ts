import { type PlatformError, refuse } from './errors.ts'
import { remembered } from './remembered.ts'

/** A scope as tokens carry it: `area:verb`. */
export type ScopeName = `${string}:${string}`

type ScopeCaller = 'app' | 'user'
export type ScopeEntry = {
  readonly callers: readonly ScopeCaller[]
  /** `own`: the operator's own scope. A restricted one needs to be given to an app before the app can register it. */
  readonly availability: 'available' | 'preview' | 'issuable' | 'own' | 'planned' | 'restricted'
  /** What it allows, in the words of the consent page. */
  readonly words: string
}

/** Scopes by name, in the order in which they are shown. */
export type ScopeCatalogue = ReadonlyMap<string, ScopeEntry>

/**
 * The scopes of version 2026-08 (contract section 4; for developers `guides/develop/first-app.md`). A new one keeps to the areas that
 * are here, because operators may have scopes of their own in every other one.
 */
const builtIn = {
  'profile:read': { callers: ['user'], availability: 'available', words: 'See your name and picture' },
  'profile.email:read': { callers: ['user'], availability: 'available', words: 'See your email address' },
  'site:read': { callers: ['app', 'user'], availability: 'preview', words: 'List your websites' },
  'store:read': { callers: ['app', 'user'], availability: 'preview', words: 'List your stores' },
  'site.content:write': {
    callers: ['app', 'user'],
    availability: 'issuable',
    words: 'Change the content of your websites',
  },
  'store.products:read': { callers: [], availability: 'planned', words: 'See the products of your stores' },
  'store.orders:read': { callers: [], availability: 'restricted', words: 'See the orders of your stores' },
  'customers:read': { callers: [], availability: 'restricted', words: 'See the customers of your stores' },
} as const satisfies Record<ScopeName, ScopeEntry>

/** The scopes that every server has. */
export const builtInScopes: ScopeCatalogue = new Map(Object.entries(builtIn))

/** Who can carry one of the operator's own scopes. */
export const ownScopeUses = ['app', 'user', 'both'] as const
export type OwnScopeUse = (typeof ownScopeUses)[number]

/** One of the operator's own scopes that has not been retired. */
type OwnScope = {
  readonly name: string
  readonly usableBy: OwnScopeUse
  readonly words: string
  readonly isRestricted: boolean
}

/** All scopes of a server, the built-in ones first. */
export const catalogueWith = (own: readonly OwnScope[]): ScopeCatalogue =>
  new Map([...builtInScopes, ...own.map((scope): [string, ScopeEntry] => [scope.name, entryOf(scope)])])

const entryOf = ({ usableBy, words, isRestricted }: OwnScope): ScopeEntry => ({
  callers: usableBy === 'both' ? ['app', 'user'] : [usableBy],
  availability: isRestricted ? 'restricted' : 'own',
  words,
})

/** The most live scopes of the operator. */
export const maximumOwnScopes = 200
const longestName = 64

const word = '[a-z][a-z0-9]*(?:[.-][a-z0-9]+)*'
const nameForm = new RegExp(`^${word}:${word}$`)

/** The first word of an area: what begins like a built-in scope may be one in a later version. */
const rootOf = (name: string): string => name.split(/[.:]/)[0] ?? ''
const reservedRoots: ReadonlySet<string> = new Set([...builtInScopes.keys()].map(rootOf))

const hasNameForm = (name: string): name is ScopeName => name.length <= longestName && nameForm.test(name)

/** Why a text cannot be the name of the operator's own scope; null if it can. */
export const ownScopeFault = (name: string): string | null => {
  if (!hasNameForm(name)) {
    return `A scope is area:verb, such as orders:read: small letters, digits, dots and hyphens, at most ${longestName} characters.`
  }
  return reservedRoots.has(rootOf(name)) ? 'The area of this name is reserved for scopes of the platform.' : null
}

const isBuiltIn = (name: string): name is keyof typeof builtIn => builtInScopes.has(name)
/** Whether a scope can have this name. Whether an operator has added it is in the store. */
const isScopeName = (name: string): name is ScopeName => isBuiltIn(name) || ownScopeFault(name) === null

/** Those of the names that are not built in. */
export const ownAmong = (scopes: readonly ScopeName[]): readonly ScopeName[] =>
  scopes.filter((name) => !isBuiltIn(name))

export type ParsedScope = { readonly kind: 'scopes'; readonly scopes: readonly ScopeName[] } | RefusedScope
/** The message names a scope that exists, and counts to one that does not: no answer repeats a text of its caller. */
type RefusedScope = {
  readonly kind: 'refused'
  readonly code: 'invalid_scope' | 'scope_not_available'
  readonly message: string
}

const maximumLength = 1000

/** Apps send the same few scopes with every call. */
const rememberedTexts = 256
/** An app may have every scope of a server. */
const longestRemembered = (maximumOwnScopes + builtInScopes.size) * (longestName + 1)
const isShort = (_: unknown, text: string): boolean => text.length <= longestRemembered

/** Sorted and without repeats, as scopes from here and from the store nearly always are. */
const ordered = (scopes: readonly ScopeName[]): readonly ScopeName[] =>
  scopes.every((name, index) => index === 0 || (scopes[index - 1] ?? '') < name)
    ? scopes
    : [...new Set(scopes)].toSorted()

/**
 * Reads a scope string (RFC 6749 section 3.3): names that a scope can have, sorted and without repeats. Only a space separates
 * names. One that no scope can have is reported before a planned one. Whether the operator's own scopes exist is not known here: they are
 * compared with what the store has of the app.
 */
export const parseScope = (text: string): ParsedScope =>
  text.length > maximumLength ? invalid(`The scope has more than ${maximumLength} characters.`) : readScope(text)

const invalid = (message: string): RefusedScope => ({ kind: 'refused', code: 'invalid_scope', message })

/** The refusal of the scope at this place of a list, counted from 1. */
const unknownScope = (place: number): RefusedScope =>
  invalid(`Scope ${place} in the list does not exist. There are: ${issuable.join(', ')}.`)

const noOpenid =
  'There is no scope openid: this is OAuth 2.0 without ID tokens. Ask for profile:read, and GET /oauth/userinfo says who the user is.'

/** The same for a list of names, however long it is. */
export const readScopeNames = (names: readonly string[]): ParsedScope => {
  const unknown = names.findIndex((name) => !isScopeName(name))
  if (names.length === 0) return invalid('The scope is empty.')
  if (names.some((name) => /.,./.test(name))) return invalid('Scopes are separated by spaces, not by commas.')
  if (names.includes('openid')) return invalid(noOpenid)
  if (unknown !== -1) return unknownScope(unknown + 1)
  const known = names.filter(isScopeName)
  const unavailable = known.find((name) => isBuiltIn(name) && !isIssuable(builtIn[name]))
  if (unavailable !== undefined) {
    const message = `The scope ${unavailable} is planned or restricted and cannot be issued.`
    return { kind: 'refused', code: 'scope_not_available', message }
  }
  return { kind: 'scopes', scopes: ordered(known) }
}

/** The names in a text, which only spaces separate. */
export const scopeWords = (text: string): readonly string[] => text.split(' ').filter((name) => name !== '')

const readScope = remembered(rememberedTexts, (text: string): ParsedScope => readScopeNames(scopeWords(text)))

/** The refusal of a scope that an app may not ask for. */
export const notAllowed = (name: ScopeName, param: string): PlatformError =>
  refuse('scope_not_allowed', { param, message: `The app may not ask for the scope ${name}.` })

/** Scopes from the store. `formatScope` wrote them, so every name was known then. */
export const parseStoredScope = remembered(
  rememberedTexts,
  (text: string): readonly ScopeName[] => text.split(' ').filter(isScopeName),
  isShort,
)

/** The scopes for the store and for answers: sorted, separated by one space. */
export const formatScope = (scopes: readonly ScopeName[]): string => ordered(scopes).join(' ')

/** Stored scopes without some others, both as texts. */
export const withoutScopes = (stored: string, others: string): string => {
  const lost = scopeWords(others)
  return scopeWords(stored)
    .filter((name) => !lost.includes(name))
    .join(' ')
}

/** Built-in scopes that a caller of this kind can be given. */
export const scopesFor = (caller: ScopeCaller): readonly ScopeName[] => scopesByCaller[caller]

/** Those of the scopes that a caller of this kind can be given, by what is known of all scopes. */
export const usableBy = (
  caller: ScopeCaller,
  scopes: readonly ScopeName[],
  catalogue: ScopeCatalogue,
): readonly ScopeName[] => scopes.filter((name) => catalogue.get(name)?.callers.includes(caller) === true)

/** The scopes that are in any of the lists, sorted. */
export const unionOf = (lists: readonly (readonly ScopeName[])[]): readonly ScopeName[] => ordered(lists.flat())

/** The scopes that are in both lists, sorted. */
export const commonTo = (some: readonly ScopeName[], others: readonly ScopeName[]): readonly ScopeName[] =>
  ordered(some.filter((name) => others.includes(name)))

/** Whether every scope of the first list is in the second. */
export const isSubset = (some: readonly ScopeName[], all: readonly ScopeName[]): boolean =>
  some.every((name) => all.includes(name))

/** Whether an app can register the scope without asking an operator. */
export const isIssuable = ({ availability }: ScopeEntry): boolean =>
  availability !== 'planned' && availability !== 'restricted'

const builtInNames = [...builtInScopes.keys()].filter(isBuiltIn)
/** The built-in names that can be issued, in the order of messages. */
export const issuable: readonly ScopeName[] = builtInNames.filter((name) => isIssuable(builtIn[name])).toSorted()
const scopesByCaller = {
  app: usableBy('app', builtInNames, builtInScopes),
  user: usableBy('user', builtInNames, builtInScopes),
} as const
