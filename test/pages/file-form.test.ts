import { expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { findVersion } from '../../src/operations/versions/version-record.ts'
import { addApp } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { signedInBrowser } from './support/plain-browser.ts'

// How a form with a file must be encoded. What its fields mean is in console-versions.test.ts.

const world = await worldOfFile()
const owner = await signedInBrowser(world.server.url, world.user)
const app = await addApp(world.platform, world.user)
const action = `/console/${app.slug}/versions`
const shownForm = async () => ({
  ...(await owner.formOn(`${action}/new`, action)),
  manifest: '{"name":"x"}',
  notes: '',
})
const versionOf = async (version: string) =>
  await findVersion(world.platform, await ownedApp(world.platform, world.user.id, app.slug), version)

test('what a browser sends arrives as it is: texts and names in UTF-8, and any bytes', async () => {
  const looksLikeParts = Buffer.from(
    '\r\n--\r\n\r\n--boundary--\r\nContent-Disposition: form-data; name="version"\r\n\r\n\0',
  )
  for (const [index, bytes] of [looksLikeParts, randomBytes(300_000), randomBytes(1)].entries()) {
    const version = `1.0.${index}`
    const notes = 'Zoë "✓" \ufffd %22'
    const filename = 'äpp "✓".tar'
    const file = new File([bytes], filename)
    expect((await owner.upload(action, { ...(await shownForm()), version, notes, file })).status).toBe(303)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const sizeBytes = bytes.length
    expect(await versionOf(version)).toMatchObject({ notes, artifact: { filename, sizeBytes, sha256 } })
  }
})

test('a form that no browser encodes so is refused, and nothing of it is done', async () => {
  const boundary = '----WebKitFormBoundaryx'
  const part = (head: string, content: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
  const field = (name: string, content: string) => part(`name="${name}"`, content)
  const file = part('name="file"; filename="app.tar"\r\nContent-Type: application/x-tar', 'content')
  const end = `--${boundary}--\r\n`
  const shown = { ...(await shownForm()), version: '2.0.0' }
  const fields = Object.entries(shown).map(([name, value]) => field(name, value))
  const whole = fields.join('')
  const send = async (body: string, type = `multipart/form-data; boundary=${boundary}`) => {
    const { status, text } = await owner.upload(action, new Blob([Buffer.from(body, 'latin1')]), {
      'content-type': type,
    })
    return [status, /not properly encoded|was sent twice|too large/.exec(text)?.[0]]
  }
  for (const body of [
    '',
    whole + file,
    `${whole}${file}--${boundary}-`,
    `${whole}${field('notes', '\xff')}${end}`,
    `${field('notes', '\xff')}${whole}${end}`,
    `${whole}${field('other', '\0')}${end}`,
    `${whole}${field('\xe4', '')}${end}`,
    `${whole}${part('name="file"; filename="\xe4.tar"', 'content')}${end}`,
    whole + file + file + end,
    whole + field('other', '').repeat(101) + end,
  ]) {
    expect([body.slice(-60), ...(await send(body))]).toEqual([body.slice(-60), 400, 'not properly encoded'])
  }
  for (const parameters of ['', '; boundary=', '; boundary=a b', `; a=b; boundary=${boundary}`]) {
    const type = `multipart/form-data${parameters}`
    expect([type, ...(await send(whole + file + end, type))]).toEqual([type, 400, 'not properly encoded'])
  }
  expect(await send(whole + field('notes', 'again') + end)).toEqual([400, 'was sent twice'])
  expect(await send(whole + field('other', 'x'.repeat(513 * 1024)) + end)).toEqual([413, 'too large'])
  await expect(versionOf('2.0.0')).rejects.toMatchObject({ code: 'version_not_found' })
  expect(await send(whole + file + end)).toEqual([303, undefined])
})
