import { expect, test } from 'bun:test'
import { array, assert, nat, property, uint8Array } from 'fast-check'
import { PlatformError } from '../../src/domain/errors.ts'
import { type MultipartForm, MultipartReader } from '../../src/http/multipart.ts'

const boundary = '----WebKitFormBoundaryx'

/** Reads the body split at these places, as a network could split it. */
const read = (body: Uint8Array, cuts: readonly number[] = []): MultipartForm => {
  const reader = new MultipartReader(boundary)
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).toSorted((a, b) => a - b), body.length]
  for (const [index, place] of places.entries()) reader.take(body.subarray(places[index - 1] ?? 0, place))
  return reader.finish()
}
const bytesOf = (text: string) => Buffer.from(text, 'latin1')
const refusalOf = (body: string | Uint8Array): unknown => {
  try {
    read(typeof body === 'string' ? bytesOf(body) : body)
    return 'taken'
  } catch (error) {
    return error instanceof PlatformError ? error.code : error
  }
}
const part = (headers: string, content: string) => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`
const field = (name: string, content: string) => part(`Content-Disposition: form-data; name="${name}"`, content)
const end = `--${boundary}--\r\n`
const fileHead = (filename: string) =>
  `Content-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: application/zip`

test('fields and a file arrive whole, however the network splits the body', () => {
  assert(
    property(uint8Array({ maxLength: 400 }), array(nat(2000), { maxLength: 8 }), (content, cuts) => {
      // What looks like a boundary and is none is content.
      const tricky = Buffer.concat([content, bytesOf(`\r\n--${boundary.slice(0, -1)}\r\n`), content])
      const body = Buffer.concat([
        bytesOf(field('a', 'one') + field('a', 'two\r\n') + `--${boundary}\r\n${fileHead('my %22app%22.zip')}\r\n\r\n`),
        tricky,
        bytesOf(`\r\n${end}`),
      ])
      const { fields, files } = read(body, cuts)
      expect(fields.get('a')).toEqual(['one', 'two\r\n'])
      const file = files.get('file')
      expect(file?.filename).toBe('my "app".zip')
      expect(Buffer.concat(file?.content?.pieces ?? [])).toEqual(tricky)
    }),
    { numRuns: 60 },
  )
})

test('what Bun encodes as a form is read as it was', async () => {
  const form = new FormData()
  form.append('name', 'Zoë "✓"')
  form.append('file', new File(['content'], 'äpp.zip'))
  const request = new Request('http://localhost/', { method: 'POST', body: form })
  const [, used = ''] = /boundary="?([^"]+)"?$/.exec(request.headers.get('content-type') ?? '') ?? []
  const reader = new MultipartReader(used)
  reader.take(await request.bytes())
  const { fields, files } = reader.finish()
  expect(fields.get('name')).toEqual(['Zoë "✓"'])
  expect(files.get('file')?.filename).toBe('äpp.zip')
})

test('a file field without a file is nothing, and a file of more than 10 MiB is named without its content', () => {
  expect(read(bytesOf(part(fileHead(''), '') + end)).files.size).toBe(0)
  const large = bytesOf(part(fileHead('a.zip'), 'x'.repeat(10 * 1024 * 1024 + 1)) + end)
  expect(read(large).files.get('file')).toEqual({ filename: 'a.zip', content: null })
})

test('anything else than a browser sends is refused', () => {
  const good = field('a', 'b')
  expect(refusalOf(good + end)).toBe('taken')
  for (const body of [
    '',
    good,
    `${good}--${boundary}-`,
    `preamble\r\n${good}${end}`,
    `${good}${end}more`,
    field('', 'no name') + end,
    field('a', '\xff') + end,
    field('a', '\0') + end,
    part('Content-Disposition: attachment; name="a"', '') + end,
    part('Content-Disposition: form-data; name="a"\r\nX-Other: 1', '') + end,
    part('Content-Disposition: form-data; name="a"\r\nContent-Type: a\r\nContent-Transfer-Encoding: base64', '') + end,
    part(`Content-Disposition: form-data; name="${'a'.repeat(5000)}"`, '') + end,
    part(fileHead('a'), '') + part(fileHead('b'), '') + end,
    good.repeat(101) + end,
  ]) {
    expect([body.slice(0, 60), refusalOf(body)]).toEqual([body.slice(0, 60), 'invalid_request'])
  }
  expect(refusalOf(field('a', 'x'.repeat(600_000)) + end)).toBe('payload_too_large')
})
