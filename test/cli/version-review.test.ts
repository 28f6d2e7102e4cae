import { beforeAll, expect, test } from 'bun:test'
import { type Desk, failureIn, isoTime, openDesk } from './support/run.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
  await desk.json(['seed'])
})

const statusOf = async (version: string, step: string, ...more: string[]) =>
  await desk.json(['review', step, 'newsletter', version, ...more])

test('a draft can be submitted, withdrawn, submitted again, approved and activated, which supersedes the active version', async () => {
  expect(await statusOf('1.4.0', 'submit')).toMatchObject({
    status: 'submitted',
    submittedAt: expect.stringMatching(isoTime),
  })
  expect(await statusOf('1.4.0', 'withdraw')).toMatchObject({ status: 'draft', submittedAt: null })
  expect(await statusOf('1.4.0', 'submit')).toMatchObject({ status: 'submitted' })
  expect(await statusOf('1.4.0', 'approve')).toMatchObject({
    status: 'approved',
    reviewedAt: expect.stringMatching(isoTime),
  })
  expect(await statusOf('1.4.0', 'activate')).toEqual({
    id: expect.stringMatching(/^ver_[0-9a-f]{32}$/),
    number: 6,
    version: '1.4.0',
    status: 'active',
    revision: 1,
    notes: 'Work in progress.',
    manifest: {
      name: expect.any(String),
      description: expect.any(String),
      icon: 'icon.png',
      embedUrl: 'https://newsletter.example/builder',
    },
    scopes: ['site:read'],
    artifact: { filename: 'app.zip', sha256: expect.any(String), sizeBytes: expect.any(Number) },
    current: { development: true, production: true },
    rejection: null,
    createdAt: expect.stringMatching(isoTime),
    updatedAt: expect.stringMatching(isoTime),
    submittedAt: expect.stringMatching(isoTime),
    reviewedAt: expect.stringMatching(isoTime),
    activatedAt: expect.stringMatching(isoTime),
  })
  const again = await desk.run(['review', 'activate', 'newsletter', '1.1.0', '--json'])
  expect(again.stderr).toContain('Its status is superseded.')
})

test('list shows every version of an app, newest first, with the fields that each step prints', async () => {
  const submitted = await desk.json(['review', 'submit', 'shop-insights', '0.1.0'])
  expect(await desk.json(['review', 'list', 'shop-insights'])).toEqual({ data: [submitted] })
  await desk.json(['review', 'withdraw', 'shop-insights', '0.1.0'])
  const { stdout } = await desk.run(['review', 'list', 'newsletter'])
  expect(stdout).toMatch(/^VERSION +STATUS +REVISION +SCOPES +IN DEVELOPMENT +IN PRODUCTION +CREATED +ID\n1\.4\.0 +/)
  expect((await desk.run(['review', 'list', 'no-such-app'])).stderr).toBe(
    'error: There is no app with this slug or ID.\n',
  )
})

test('a submitted version is rejected with a message and a list of things to fix', async () => {
  const items = ['--item', 'manifest.support=No address.', '--item', 'notes=Say = what changed.']
  expect(await statusOf('1.3.0', 'reject', '--message', 'Not yet.', ...items)).toMatchObject({
    status: 'rejected',
    rejection: {
      message: 'Not yet.',
      items: [
        { path: 'manifest.support', message: 'No address.' },
        { path: 'notes', message: 'Say = what changed.' },
      ],
    },
  })
})

test('a step from the wrong status, an unknown version or app and an empty reason exit 1 and change nothing', async () => {
  for (const words of [
    ['review', 'approve', 'shop-insights', '0.1.0'],
    ['review', 'activate', 'shop-insights', '0.1.0'],
    ['review', 'withdraw', 'shop-insights', '0.1.0'],
    ['review', 'reject', 'shop-insights', '0.1.0', '--message', ' '],
    ['review', 'reject', 'shop-insights', '0.1.0', '--message', 'No.'],
    ['review', 'submit', 'shop-insights', '9.9.9'],
    ['review', 'submit', 'no-such-app', '0.1.0'],
  ]) {
    const { exitCode, stdout, stderr } = await desk.run([...words, '--json'])
    expect({ words, exitCode }).toEqual({ words, exitCode: 1 })
    failureIn({ stdout, stderr })
    expect(stderr).toMatch(/^error: [^\n]+\.\n$/)
  }
  expect((await desk.json(['review', 'submit', 'shop-insights', '0.1.0'])).status).toBe('submitted')
})
