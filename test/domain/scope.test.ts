import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  catalogueWith,
  commonTo,
  formatScope,
  isSubset,
  ownScopeFault,
  parseScope,
  parseStoredScope,
  builtInScopes,
  scopesFor,
  usableBy,
  withoutScopes,
} from '../../src/domain/scope.ts'

const issuable = ['profile.email:read', 'profile:read', 'site.content:write', 'site:read', 'store:read'] as const
const unavailable = ['customers:read', 'store.orders:read', 'store.products:read'] as const
const invalid = (message: string) => ({ kind: 'refused', code: 'invalid_scope', message }) as const
const unknown = (place: number) =>
  invalid(`Scope ${place} in the list does not exist. There are: ${issuable.join(', ')}.`)
const notAvailable = (name: string) => {
  const message = `The scope ${name} is planned or restricted and cannot be issued.`
  return { kind: 'refused', code: 'scope_not_available', message } as const
}

describe('a scope string', () => {
  test('is read sorted and without repeats, however it is written', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...issuable), { minLength: 1, maxLength: 20 }), (names) => {
        const scopes = [...new Set(names)].toSorted()
        expect(parseScope(names.join(' '))).toEqual({ kind: 'scopes', scopes })
        expect(parseScope(` ${names.join('   ')} `)).toEqual({ kind: 'scopes', scopes })
      }),
    )
  })

  test('that is empty is refused', () => {
    for (const text of ['', ' ', '     ']) expect(parseScope(text)).toEqual(invalid('The scope is empty.'))
  })

  test('with an unknown name is refused by its place, since no answer repeats a text of its caller', () => {
    const names = ['site:write', 'SITE:READ', 'site', 'site:read,', 'constructor', '__proto__', 'toString']
    for (const name of names) {
      expect(parseScope(name)).toEqual(unknown(1))
      expect(parseScope(`site:read ${name}`)).toEqual(unknown(2))
    }
  })

  test('with a planned or restricted name is refused as not available', () => {
    for (const name of unavailable) {
      expect(parseScope(name)).toEqual(notAvailable(name))
      expect(parseScope(`site:read ${name}`)).toEqual(notAvailable(name))
    }
  })

  test('with an unknown and a planned name is invalid', () => {
    expect(parseScope('customers:read site:write')).toEqual(unknown(2))
    expect(parseScope('site:write customers:read')).toEqual(unknown(1))
  })

  test('separates its names by spaces only', () => {
    for (const separator of ['\t', '\n', '\r\n', '\u00a0', '\u2003', '+', '\0']) {
      expect(parseScope(`site:read${separator}store:read`)).toEqual(unknown(1))
      expect(parseScope(`site:read${separator}`)).toEqual(unknown(1))
    }
  })

  test('with commas between names, or with openid, is refused with an explanation', () => {
    for (const text of ['site:read,store:read', 'site:read, store:read,site:read', 'a,b']) {
      expect(parseScope(text)).toEqual(invalid('Scopes are separated by spaces, not by commas.'))
    }
    for (const text of ['openid', 'profile:read openid', 'openid nothing']) {
      expect(parseScope(text)).toMatchObject({ code: 'invalid_scope', message: expect.stringContaining('openid') })
    }
  })

  test('has at most 1000 characters', () => {
    expect(parseScope('site:read'.padEnd(1000)).kind).toBe('scopes')
    expect(parseScope('site:read'.padEnd(1001))).toEqual(invalid('The scope has more than 1000 characters.'))
  })

  test('is read without an error, whatever the text is', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expect(parseScope(text).kind).toBe('refused')))
  })
})

describe('stored scopes', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...issuable)), (scopes) => {
        expect(parseStoredScope(formatScope(scopes))).toEqual(scopes.toSorted())
      }),
    )
  })

  test('that are empty allow nothing', () => {
    expect(formatScope([])).toBe('')
    expect(parseStoredScope('')).toEqual([])
  })

  test('allow nothing for a name that does not exist', () => {
    expect(parseStoredScope('site:read site:all admin')).toEqual(['site:read'])
  })
})

describe('the result for a text', () => {
  /** Texts that no other test reads. */
  let count = 0
  const next = () => `site:read x${(count += 1)}`

  test('is kept, and all are dropped when a 257th text is read', () => {
    const first = next()
    const readFrom = (scopes: readonly string[]): number => {
      for (let others = 1; others < 1_000; others += 1) {
        parseStoredScope(next())
        if (parseStoredScope(first) !== scopes) return others
      }
      return Number.POSITIVE_INFINITY
    }
    readFrom(parseStoredScope(first)) // from here on only the last one and the first are remembered
    expect(readFrom(parseStoredScope(first))).toBe(255)
  })

  test('is read again when the text is longer than all scopes of a server', () => {
    for (const length of [13_520, 13_521]) {
      const text = next().padEnd(length)
      expect(parseStoredScope(text) === parseStoredScope(text)).toBe(length === 13_520)
    }
  })
})

const own = (name: string) => ({ name, usableBy: 'both', words: name, isRestricted: false }) as const

describe("the operator's own scopes", () => {
  test('have names of area and verb, outside the areas of built-in scopes', () => {
    for (const name of ['orders:read', 'a:b', 'order.items:write', 'pages-v2:read-all', `${'a'.repeat(62)}:b`]) {
      expect(ownScopeFault(name)).toBeNull()
    }
    const malformed = ['orders', 'orders:', ':read', 'Orders:read', 'orders:read:all', 'orders read', 'orders.:read']
    const others = [
      '1:read',
      'orders:read\n',
      'orders:\u202eread',
      'ordérs:read',
      '',
      `${'a'.repeat(63)}:b`,
      'a..b:c',
      'a_b:c',
    ]
    for (const name of [...malformed, ...others]) expect(ownScopeFault(name)).toContain('area:verb')
    for (const name of builtInScopes.keys()) {
      const [area = '', verb = ''] = name.split(':')
      for (const taken of [name, `${area}:other`, `${area}.part:${verb}`])
        expect(ownScopeFault(taken)).toContain('reserved')
    }
  })

  test('can be read from any text, and are ordered with the built-in ones', () => {
    const scopes = ['orders:read', 'profile:read', 'zebra:write'] as const
    expect(parseScope('zebra:write profile:read orders:read zebra:write')).toEqual({
      kind: 'scopes',
      scopes: [...scopes],
    })
    expect(parseStoredScope(formatScope(scopes.toReversed()))).toEqual([...scopes])
  })

  test('are taken out of a list whole', () => {
    expect(withoutScopes('orders:read orders:read-all site:read', 'orders:read gone:read')).toBe(
      'orders:read-all site:read',
    )
    expect(withoutScopes('orders:read', 'orders:read')).toBe('')
  })

  test('follow the built-in ones in the catalogue, with the callers that can have them', () => {
    const catalogue = catalogueWith([own('orders:read'), { ...own('mail:send'), usableBy: 'app', isRestricted: true }])
    expect([...catalogue.keys()]).toEqual([...builtInScopes.keys(), 'orders:read', 'mail:send'])
    expect(catalogue.get('mail:send')).toEqual({ callers: ['app'], availability: 'restricted', words: 'mail:send' })
    expect(usableBy('user', ['mail:send', 'orders:read', 'other:read'], catalogue)).toEqual(['orders:read'])
  })
})

describe('the catalogue', () => {
  test('has the scopes of the contract for each kind of caller', () => {
    expect(scopesFor('app').toSorted()).toEqual(['site.content:write', 'site:read', 'store:read'])
    expect(scopesFor('user').toSorted()).toEqual([...issuable])
  })

  test('never issues a planned or restricted scope', () => {
    for (const name of unavailable) {
      expect([...scopesFor('app'), ...scopesFor('user')]).not.toContain(name)
      expect(['planned', 'restricted']).toContain(String(builtInScopes.get(name)?.availability))
    }
  })

  test('describes in plain words what each scope allows', () => {
    const words = [...builtInScopes.values()].map((entry) => entry.words)
    expect(new Set(words).size).toBe(words.length)
    for (const text of words) expect(text).toMatch(/^[A-Z][a-z ]+$/)
  })
})

test('the common scopes of two lists are sorted', () => {
  expect(commonTo(['store:read', 'profile:read', 'site:read'], ['site:read', 'store:read'])).toEqual([
    'site:read',
    'store:read',
  ])
  expect(commonTo(['site:read'], ['store:read'])).toEqual([])
  expect(commonTo([], ['store:read'])).toEqual([])
})

test('a set of scopes is a subset of another if that has every one of them', () => {
  expect(isSubset([], [])).toBeTrue()
  expect(isSubset(['site:read'], ['store:read', 'site:read'])).toBeTrue()
  expect(isSubset(['site:read', 'store:read'], ['site:read'])).toBeFalse()
  expect(isSubset(['site:read'], [])).toBeFalse()
})
