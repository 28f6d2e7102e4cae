import { type PlatformError, refuse } from './errors.ts'
import { remembered } from './remembered.ts'

/** The scopes of version 2026-08 (contract section 4). */
export const scopeCatalogue = {
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
} as const satisfies Record<string, ScopeEntry>

type ScopeCaller = 'app' | 'user'
type ScopeEntry = {
  readonly callers: readonly ScopeCaller[]
  readonly availability: 'available' | 'preview' | 'issuable' | 'planned' | 'restricted'
  /** What it allows, in the words of the consent page. */
  readonly words: string
}
export type ScopeName = keyof typeof scopeCatalogue

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
const isShort = (_: unknown, text: string): boolean => text.length <= maximumLength

const entries: readonly (readonly [string, ScopeEntry])[] = Object.entries(scopeCatalogue)
const catalogued = new Set(entries.map(([name]) => name))
const isScopeName = (name: string): name is ScopeName => catalogued.has(name)
const sortedNames: readonly ScopeName[] = [...catalogued].filter(isScopeName).toSorted()
/** Sorted and without repeats. Filtering the few existing names is faster than sorting. */
const ordered = (scopes: readonly ScopeName[]): readonly ScopeName[] =>
  sortedNames.filter((name) => scopes.includes(name))

/**
 * Reads a scope string (RFC 6749 section 3.3): existing names that can be issued, sorted and without repeats. Only a space
 * separates names. An unknown name is reported before a planned one.
 */
export const parseScope = (text: string): ParsedScope =>
  text.length > maximumLength ? invalid(`The scope has more than ${maximumLength} characters.`) : readScope(text)

const invalid = (message: string): RefusedScope => ({ kind: 'refused', code: 'invalid_scope', message })

const readScope = remembered(rememberedTexts, (text: string): ParsedScope => {
  const names = text.split(' ').filter((name) => name !== '')
  const unknown = names.findIndex((name) => !isScopeName(name))
  if (names.length === 0) return invalid('The scope is empty.')
  if (unknown !== -1)
    return invalid(`Scope ${unknown + 1} in the list does not exist. There are: ${issuable.join(', ')}.`)
  const known = names.filter(isScopeName)
  const unavailable = known.find((name) => !isIssuable(name))
  if (unavailable !== undefined) {
    const message = `The scope ${unavailable} is planned or restricted and cannot be issued.`
    return { kind: 'refused', code: 'scope_not_available', message }
  }
  return { kind: 'scopes', scopes: ordered(known) }
})

/** The refusal of scopes that are not all among those allowed; null if they are. */
export const refuseBeyond = (
  asked: readonly ScopeName[],
  allowed: readonly ScopeName[],
  param: string,
): PlatformError | null => {
  const beyond = asked.find((name) => !allowed.includes(name))
  return beyond === undefined
    ? null
    : refuse('scope_not_allowed', { param, message: `The app may not ask for the scope ${beyond}.` })
}

/** Scopes from the store. `formatScope` wrote them, so every name was known then. */
export const parseStoredScope = remembered(
  rememberedTexts,
  (text: string): readonly ScopeName[] => text.split(' ').filter(isScopeName),
  isShort,
)

/** The scopes for the store and for answers: sorted, separated by one space. */
export const formatScope = (scopes: readonly ScopeName[]): string => ordered(scopes).join(' ')

/** Scopes that a caller of this kind can be given. */
export const scopesFor = (caller: ScopeCaller): readonly ScopeName[] => scopesByCaller[caller]

/** The stored scopes of an app that it may have for itself. */
export const ownScopes = remembered(
  rememberedTexts,
  (stored: string): readonly ScopeName[] => commonTo(scopesByCaller.app, parseStoredScope(stored)),
  isShort,
)

/** The scopes that are in any of the lists, sorted. */
export const unionOf = (lists: readonly (readonly ScopeName[])[]): readonly ScopeName[] => ordered(lists.flat())

/** The scopes that are in both lists, sorted. */
export const commonTo = (some: readonly ScopeName[], others: readonly ScopeName[]): readonly ScopeName[] =>
  ordered(some.filter((name) => others.includes(name)))

/** Whether every scope of the first list is in the second. */
export const isSubset = (some: readonly ScopeName[], all: readonly ScopeName[]): boolean =>
  some.every((name) => all.includes(name))

const isIssuable = (name: ScopeName): boolean => {
  const { availability } = scopeCatalogue[name]
  return availability !== 'planned' && availability !== 'restricted'
}
/** The names that can be issued, in the order of messages. */
export const issuable: readonly ScopeName[] = sortedNames.filter(isIssuable)
const namesFor = (caller: ScopeCaller) =>
  entries
    .filter(([, entry]) => entry.callers.includes(caller))
    .map(([name]) => name)
    .filter(isScopeName)
const scopesByCaller = { app: namesFor('app'), user: namesFor('user') } as const
