import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { readResource } from '../../src/domain/resource.ts'

const sound = { owner: 'ada@example.com', kind: 'store', name: 'Cards', slug: 'cards', status: 'archived' }

test('a resource is read with its times; missing ones are null', () => {
  expect(readResource(JSON.stringify({ ...sound, publishedAt: '1970-01-01T00:00:01Z', more: [1] }), false)).toEqual({
    kind: 'resource',
    resource: { owner: { by: 'email', text: 'ada@example.com' }, externalId: null, kind: 'store', name: 'Cards', slug: 'cards', status: 'archived', createdAt: null, updatedAt: null, publishedAt: 1_000 },
  }) // prettier-ignore
})

test('each missing field is named', () => {
  for (const field of Object.keys(sound)) {
    const read = readResource(JSON.stringify({ ...sound, [field]: undefined }), false)
    expect(read).toEqual({ kind: 'fault', message: `${field}: This is missing.` })
  }
})

test('a faulty field is named, with the rule that it breaks', () => {
  const time = 'This must be a time such as 2026-08-01T12:00:00.000Z.'
  for (const [field, value, says] of [
    ['owner', 7, 'This must be a string.'],
    ['name', 7, 'This must be a string.'],
    ['slug', 'Bad Slug', 'A slug has 1 to 63 characters: a-z, 0-9, and hyphens inside.'],
    ['kind', 'website', 'This must be site or store.'],
    ['status', 'live', 'This must be draft or published or archived.'],
    ['createdAt', '2026-02-30T00:00:00Z', time],
    ['updatedAt', '', time],
    ['publishedAt', 1_790_000_000, time],
  ] as const) {
    const read = readResource(JSON.stringify({ ...sound, [field]: value }), false)
    expect(read).toEqual({ kind: 'fault', message: `${field}: ${says}` })
  }
})

test('only an object is a resource', () => {
  for (const text of ['', '{', 'null', 'true', '7', '"a"', '[]', `[${JSON.stringify(sound)}]`]) {
    expect(readResource(text, false)).toEqual({ kind: 'fault', message: 'This is not a JSON object.' })
  }
})

test('a resource may be changed when it was created or later, not before', () => {
  const createdAt = '2026-02-02T00:00:00Z'
  const changed = (updatedAt: string | null) => readResource(JSON.stringify({ ...sound, createdAt, updatedAt }), false)
  expect(changed('2026-02-01T23:59:59Z')).toEqual({ kind: 'fault', message: 'updatedAt: This is before createdAt.' })
  for (const updatedAt of [createdAt, '2026-02-03T00:00:00Z', null]) expect(changed(updatedAt).kind).toBe('resource')
  expect(readResource(JSON.stringify({ ...sound, updatedAt: '1969-12-31T00:00:00Z' }), false).kind).toBe('resource')
})

test('any text is a resource or a fault, never an exception, and a fault repeats no value', () => {
  const anything = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({ owner: fc.anything(), kind: fc.anything(), name: fc.anything(), slug: fc.anything() }).map((record) => {
      try {
        return JSON.stringify({ ...sound, ...record })
      } catch {
        return ''
      }
    }),
  )
  fc.assert(
    fc.property(anything, (text) => {
      const read = readResource(text, false)
      return read.kind === 'resource' || /^(?:\w+: )?[A-Z][\w .:,-]+\.$/.test(read.message)
    }),
  )
})

test('the owner is named once, by address or by external ID', () => {
  const { owner: _, ...nobodys } = sound
  expect(readResource(JSON.stringify({ ...nobodys, ownerExternalId: '7' }), false)).toMatchObject({
    resource: { owner: { by: 'externalId', text: '7' } },
  })
  expect(readResource(JSON.stringify({ ...sound, ownerExternalId: '7' }), false)).toEqual({
    kind: 'fault',
    message: 'owner: Name the owner once: by owner or by ownerExternalId.',
  })
})

test('the builder names each resource and its owner by its own IDs', () => {
  expect(readResource(JSON.stringify(sound), true)).toMatchObject({ message: 'ownerExternalId: This is missing.' })
  const owned = { ...sound, ownerExternalId: '7' }
  expect(readResource(JSON.stringify(owned), true)).toMatchObject({ message: 'externalId: This is missing.' })
  for (const externalId of ['a b', '', '.', '..', 'a'.repeat(129)]) {
    expect(readResource(JSON.stringify({ ...owned, externalId }), true)).toMatchObject({
      message: 'externalId: This must be 1 to 128 visible ASCII characters, and not one or two dots.',
    })
  }
  for (const externalId of ['...', '.a', 'a/..', '%2e']) {
    expect(readResource(JSON.stringify({ ...owned, externalId }), true)).toMatchObject({ resource: { externalId } })
  }
})
