import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'bun:test'
import { parseStrictBytes } from '../../src/http/strict-body.ts'
import type { Json } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { countRows } from '../support/expired-rows.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, appToken } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { chunked, contractPath, send } from './support/send.ts'

const world = await worldOfFile()
const app = await addApp(world.platform, world.user)
const token = await appToken(world.server.url, app.development)

const uploadText = (version: string, bytes: Buffer): string =>
  JSON.stringify({ version, artifact: { filename: 'app.zip', contentBase64: bytes.toString('base64') } })
const sumOf = (bytes: Uint8Array): string => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
/** Undefined if it is no JSON. */
const jsonIn = (bytes: Uint8Array): Json | undefined => {
  try {
    return parseStrictBytes(bytes)
  } catch {
    return undefined
  }
}
const post = async (body: string | ReadableStream<Uint8Array<ArrayBuffer>>, headers: Record<string, string> = {}) =>
  await send(world.server.url, 'POST', '/versions', { token, body, headers })

/** Sends half of an upload of 10 MB and then nothing; gives the connection. */
const begin = async (version: string): Promise<Socket> => {
  const { hostname, port } = new URL(world.server.url)
  const sent = `{"version":"${version}","artifact":{"contentBase64":"${'stalled0'.repeat(625_000)}`
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const head = [
    `POST ${contractPath}/versions HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'X-Service-Api-Version: 2026-08',
    'Content-Length: 10000000',
  ]
  await new Promise<void>((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n${sent}`, () => resolve()))
  return socket
}

test('a file arrives complete in any spelling of its JSON, with or without a length', async () => {
  const bytes = randomBytes(700_001)
  const plain = uploadText('1.0.0', bytes)
  const spellings = [
    plain,
    plain.replaceAll('/', String.raw`\/`),
    plain.replace('contentBase64', String.raw`content\u0042ase64`),
    JSON.stringify(JSON.parse(plain), null, 2),
    plain.replace('"contentBase64":', '"contentBase64" \r\n\t: \r\n\t'),
    chunked(new TextEncoder().encode(plain), 10_007),
  ]
  for (const body of spellings) {
    const answer = await post(body)
    expect([200, 201]).toContain(answer.status)
    expect(answer.body.artifact).toEqual({ filename: 'app.zip', sizeBytes: bytes.length, sha256: sumOf(bytes) })
  }
})

test('the file is that of its field, wherever else the name of the field stands', async () => {
  const [bytes, other] = [randomBytes(400_000), randomBytes(500_000).toString('base64')]
  const artifact = { filename: 'app.zip', contentBase64: bytes.toString('base64') }
  const manifest = { name: 'x', contentBase64: 'AAAA' }
  for (const upload of [
    { version: '1.0.0', manifest, artifact },
    { version: '1.0.0', artifact, manifest },
    { version: '1.0.0', manifest, notes: '"contentBase64":"AAAA"', artifact },
    { version: '1.0.0', manifest, contentBase64: other, artifact },
    { version: '1.0.0', manifest, 'a"contentBase64': other, artifact },
    { version: '1.0.0', manifest, artifact: { contentBase64x: other, within: { contentBase64: other }, ...artifact } },
  ]) {
    const { body } = await post(JSON.stringify(upload))
    expect([body.artifact?.sha256, body.manifest]).toEqual([sumOf(bytes), manifest])
  }
})

test('an upload with a byte changed is refused as invalid JSON exactly if it is none; what is taken has the file as it was sent', async () => {
  const text = Buffer.from(uploadText('1.2.0', Buffer.from('a file, which is short')))
  for (const code of Buffer.from('"\\,:/{x= \n\0\xff', 'latin1')) {
    for (let at = 0; at < text.length; at += 1) {
      const changed = new Uint8Array(text)
      changed[at] = code
      const { status, body } = await send(world.server.url, 'POST', '/versions', { token, body: changed })
      const json = jsonIn(changed)
      expect([at, code, body.error?.code === 'invalid_json']).toEqual([at, code, json === undefined])
      const sent = status < 300 && json?.artifact?.contentBase64
      if (sent) expect(body.artifact.sha256).toBe(sumOf(Buffer.from(sent, 'base64')))
    }
  }
  const twice = '{"version":"1.2.0","artifact":{"filename":"a","contentBase64":"aGk=","contentBase64":"aGk="}}'
  expectRefusal(await post(twice), 'invalid_json')
  expectRefusal(await post(twice.replace('contentBase64', String.raw`content\u0042ase64`)), 'invalid_json')
})

test('a repeat is the same upload in any spelling, and another file under its key is not', async () => {
  const bytes = randomBytes(300_000)
  const key = { 'Idempotency-Key': 'upload' }
  const first = await post(uploadText('2.0.0', bytes), key)
  const again = await post(JSON.stringify(JSON.parse(uploadText('2.0.0', bytes)), null, 1), key)
  expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([201, 'true', first.body])
  const other = Buffer.from(bytes)
  other[299_999] = (other[299_999] ?? 0) ^ 1
  expectRefusal(await post(uploadText('2.0.0', other), key), 'idempotency_key_reused')
  const asText = JSON.stringify({ version: '2.0.0', artifact: { filename: 'app.zip', contentBase64: [sumOf(bytes)] } })
  expectRefusal(await post(asText, key), 'invalid_request', 'artifact.contentBase64')
})

test('callers who abort large uploads leave nothing behind, their slots become free, and it is no failure of the server', async () => {
  const before = await countRows(world.server.database, 'versions', 'artifacts', 'artifact_chunks')
  for (let round = 0; round < 3; round += 1) {
    const sockets = await Promise.all(Array.from({ length: 4 }, async () => await begin('3.0.0')))
    for (const socket of sockets) socket.destroy()
  }
  expect(await countRows(world.server.database, 'versions', 'artifacts', 'artifact_chunks')).toEqual(before)
  const bytes = randomBytes(2_000_000)
  const after = await eventually(
    async () => await post(uploadText('3.0.0', bytes)),
    ({ status }) => status !== 503, // until the server has seen that they left
  )
  expect(after).toMatchObject({
    status: 201,
    body: { artifact: { sha256: sumOf(bytes) } },
  })
  expect(world.server.log()).not.toContain('http.failed')
})

test('while large uploads of an app stall, all other calls and large uploads of other apps are answered; another large one of this app waits', async () => {
  const other = await appToken(world.server.url, (await addApp(world.platform, world.user)).development)
  const sockets = await Promise.all(Array.from({ length: 8 }, async () => await begin('4.0.0')))
  // So that they, and not the one below, are the ones that are in memory.
  for (let turn = 0; turn < 20; turn += 1) await send(world.server.url, 'GET', '/me', { token })
  let isDone = false
  const large = post(uploadText('4.1.0', randomBytes(1_000_000))).finally(() => (isDone = true))
  expect((await post(uploadText('4.2.0', randomBytes(100)))).status).toBe(201)
  expect((await send(world.server.url, 'GET', '/me', { token })).status).toBe(200)
  const ofOther = { token: other, body: uploadText('4.1.0', randomBytes(1_000_000)) }
  expect((await send(world.server.url, 'POST', '/versions', ofOther)).status).toBe(201)
  expect(isDone).toBe(false)
  for (const socket of sockets) socket.destroy()
  expect((await large).status).toBe(201)
})

test('a body beyond its limit is refused before it is read, and so is a file beyond its limit', async () => {
  const tooLarge = new TextEncoder().encode(uploadText('5.0.0', Buffer.alloc(12 * 1024 * 1024)))
  expectRefusal(await post(chunked(tooLarge, 1_000_000), { Connection: 'close' }), 'payload_too_large')
  expectRefusal(await post(`{"notes":"${'x'.repeat(16 * 1024 * 1024)}"}`, { Connection: 'close' }), 'payload_too_large')
})
