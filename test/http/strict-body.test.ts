import { expect, test } from 'bun:test'
import { PlatformError } from '../../src/domain/errors.ts'
import { readForm } from '../../src/http/strict-body.ts'
import { callWith } from './support/door.ts'

const read = async (body: string | Uint8Array<ArrayBuffer>) => {
  const request = new Request('http://localhost/', { method: 'POST', body })
  return Object.fromEntries(await readForm(callWith(request)))
}
const codeOf = async (body: string | Uint8Array<ArrayBuffer>): Promise<string> => {
  try {
    await read(body)
    return 'read'
  } catch (error) {
    return error instanceof PlatformError ? error.code : 'crashed'
  }
}

test('a form is read as browsers encode it', async () => {
  const sent = new URLSearchParams([
    ['name', 'Ada & Söhne = +1'],
    ['empty', ''],
    ['list', 'a'],
    ['list', 'b'],
  ])
  expect(await read(sent.toString())).toEqual({ name: ['Ada & Söhne = +1'], empty: [''], list: ['a', 'b'] })
  expect(await read('')).toEqual({})
  expect(await read('flag&&x=1=2')).toEqual({ flag: [''], x: ['1=2'] })
  expect((await readForm(callWith(new Request('http://localhost/', { method: 'POST' })))).size).toBe(0)
})

test('a field name cannot reach the prototype', async () => {
  const form = await read('__proto__=x&constructor=y')
  expect(Object.keys(form).toSorted()).toEqual(['__proto__', 'constructor'])
})

test('a form that is not properly encoded is refused', async () => {
  for (const body of ['a=%', 'a=%4', 'a=%zz', '%ff=a', 'a=%c3%28', 'a=%ed%a0%80', 'a=%00', 'a=\0']) {
    expect(await codeOf(body)).toBe('invalid_request')
  }
  expect(await codeOf(new Uint8Array([0x61, 0x3d, 0xff]))).not.toBe('read')
})

test('a form that is too large is refused', async () => {
  expect(await codeOf('a'.repeat(1_001))).toBe('payload_too_large')
})

test('a field that is sent a hundred thousand times is read in linear time', async () => {
  const request = new Request('http://localhost/', { method: 'POST', body: 'a&'.repeat(131_072) })
  const form = await readForm(callWith(request, { bodyLimitBytes: 262_144 }))
  expect(form.get('a')?.length).toBe(131_072)
})
