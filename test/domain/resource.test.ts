import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { readResource } from '../../src/domain/resource.ts'

const sound = { owner: 'ada@example.com', kind: 'store', name: 'Cards', slug: 'cards', status: 'archived' }

test('a resource is read with the times it gives; those it does not give are null', () => {
  expect(readResource(JSON.stringify({ ...sound, publishedAt: '1970-01-01T00:00:01Z', more: [1] }))).toEqual({
    kind: 'resource',
    resource: { owner: 'ada@example.com', kind: 'store', name: 'Cards', slug: 'cards', status: 'archived', createdAt: null, updatedAt: null, publishedAt: 1_000 },
  }) // prettier-ignore
})

test('each missing field is named', () => {
  for (const field of Object.keys(sound)) {
    const read = readResource(JSON.stringify({ ...sound, [field]: undefined }))
    expect(read).toEqual({ kind: 'fault', message: `${field}: This is missing.` })
  }
})

test('whatever the text, it is a resource or a fault, never an exception, and a fault repeats no value', () => {
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
      const read = readResource(text)
      return read.kind === 'resource' || /^(?:\w+: )?[A-Z][\w .:,-]+\.$/.test(read.message)
    }),
  )
})
