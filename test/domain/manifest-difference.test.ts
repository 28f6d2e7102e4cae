import { expect, test } from 'bun:test'
import { assert, dictionary, jsonValue, property, string } from 'fast-check'
import { manifestDifference } from '../../src/domain/manifest-difference.ts'

const differences = (before: unknown, after: unknown) => [...manifestDifference(before, after)]
const pathsOf = (value: unknown) => differences({}, value).map(({ path }) => path)

test('the same manifest has no difference, in any order of its keys', () => {
  expect(differences({ a: 1, b: { c: [1, null] } }, { b: { c: [1, null] }, a: 1 })).toEqual([])
  expect(differences({}, {})).toEqual([])
})

test('additions, removals and changes are reported with their paths and values', () => {
  const before = { name: 'Mail', permissions: ['read', 'write'], hosts: { api: 'a.example' }, old: { deep: true } }
  const after = { name: 'Mail', permissions: ['read', 'admin', 'all'], hosts: { api: 'b.example', cdn: 'c.example' } }
  expect(differences(before, after)).toEqual([
    { kind: 'changed', path: 'permissions[1]', before: 'write', after: 'admin' },
    { kind: 'added', path: 'permissions[2]', after: 'all' },
    { kind: 'changed', path: 'hosts.api', before: 'a.example', after: 'b.example' },
    { kind: 'added', path: 'hosts.cdn', after: 'c.example' },
    { kind: 'removed', path: 'old', before: { deep: true } },
  ])
  expect(differences({ list: [1, [2], 3] }, { list: [1] })).toEqual([
    { kind: 'removed', path: 'list[1]', before: [2] },
    { kind: 'removed', path: 'list[2]', before: 3 },
  ])
})

test('lists are compared from their first place to their last', () => {
  const [one, two] = [{ host: 'a.example' }, { host: 'b.example' }]
  expect(differences([one, 1, two], [two, 1, one]).map(({ path }) => path)).toEqual(['[0].host', '[2].host'])
  expect(differences([], [one])).toEqual([{ kind: 'added', path: '[0]', after: one }])
  expect(differences([one], [])).toEqual([{ kind: 'removed', path: '[0]', before: one }])
})

test('a value that changes its type is a change, also between an object, a list, null and nothing', () => {
  for (const [before, after] of [
    [{}, []],
    [[], {}],
    [null, {}],
    [{}, null],
    [1, '1'],
    [false, null],
    [0, false],
  ]) {
    expect(differences({ a: before }, { a: after })).toEqual([{ kind: 'changed', path: 'a', before, after }])
  }
  expect(differences({ a: null }, {})).toEqual([{ kind: 'removed', path: 'a', before: null }])
})

test('names that every object inherits are ordinary names', () => {
  const after: unknown = JSON.parse('{"__proto__":{"polluted":true},"toString":1,"constructor":{"prototype":2}}')
  expect(differences({}, after).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
    'added __proto__',
    'added toString',
    'added constructor',
  ])
  expect(differences(after, {}).map(({ kind }) => kind)).toEqual(['removed', 'removed', 'removed'])
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test('no two places have the same path', () => {
  expect(pathsOf({ 'a.b': 1 })).toEqual(['["a.b"]'])
  expect(differences({ a: {} }, { a: { b: 1, '': 2, '0': 3, 'c"]': 4, ключ: 5 } }).map((c) => c.path)).toEqual([
    'a["0"]',
    'a.b',
    'a[""]',
    'a["c\\"]"]',
    'a["ключ"]',
  ])
})

test('two manifests differ if and only if there is a change, and every change is a difference', () => {
  const manifest = dictionary(string(), jsonValue({ noUnicodeString: false }))
  assert(
    property(manifest, manifest, (one, other) => {
      const [before, after] = [one, other].map((value): unknown => JSON.parse(JSON.stringify(value)))
      const changes = differences(before, after)
      expect(changes.length === 0).toBe(Bun.deepEquals(before, after))
      expect(new Set(changes.map(({ path }) => path)).size).toBe(changes.length)
      expect(differences(after, after)).toEqual([])
      // In the other direction, the same places differ.
      const back = differences(after, before)
      expect(back.map(({ path }) => path).toSorted()).toEqual(changes.map(({ path }) => path).toSorted())
    }),
  )
})
