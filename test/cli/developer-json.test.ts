import { expect, test } from 'bun:test'
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/program.ts'
import { appFolder, newDeveloper, pipeline } from './support/developer.ts'
import { failureIn } from './support/run.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const world = await worldOfFile()

/** Commands that do something, with their whole names. */
const leaves = (command: Command, name = ''): readonly { readonly name: string; readonly flags: readonly string[] }[] =>
  command.commands.flatMap((child) => {
    const whole = `${name} ${child.name()}`.trim()
    const flags = child.options.flatMap(({ long }) => long ?? [])
    return child.commands.length > 0 ? leaves(child, whole) : [{ name: whole, flags }]
  })

/** What they print is a text for another program, or goes on while they run. */
const onlyText = /^(dev|print .+|completion|completion-values|help)$/

test('every command has --json, unless what it prints is a text for another program', async () => {
  const without = leaves(await createProgram()).filter(({ flags }) => !flags.includes('--json'))
  expect(without.filter(({ name }) => !onlyText.test(name)).map(({ name }) => name)).toEqual([])
  expect(without.length).toBeGreaterThan(8)
})

/** Each command that asks the server, with arguments that are right. */
const asking = (): Readonly<Record<string, readonly string[]>> => ({
  login: [],
  whoami: [],
  'versions list': [],
  'versions show': ['1.0.0'],
  'versions create': [appFolder(), '--version', '1.0.0'],
  'versions delete': ['1.0.0'],
  'versions rollback': ['--to', '1.0.0'],
  'installs list': [],
  'webhooks list': [],
  'webhooks ping': ['whk_none'],
  'webhooks attempts': ['whk_none'],
  'webhooks resend': ['whk_none', '--failed'],
})

test('a command of developers that fails prints the error as its one JSON value, whoever refuses', async () => {
  const ofDevelopers = leaves(await createProgram()).filter(({ name }) =>
    /^(login|whoami|versions|installs|webhooks)/.test(name),
  )
  const commands = asking()
  expect(ofDevelopers.map(({ name }) => name).toSorted()).toEqual(Object.keys(commands).toSorted())
  const { clientId } = world.app.development
  const wrongSecret = { clientId, clientSecret: world.app.production.clientSecret }
  const situations = [
    { who: newDeveloper(), expected: '2 usage' },
    { who: newDeveloper({ APP_PLATFORM_URL: 'not a url' }), expected: '2 invalid_settings' },
    { who: pipeline('http://apps.example.com', wrongSecret), expected: '2 invalid_settings' },
    { who: pipeline(world.server.url, wrongSecret), expected: '1 invalid_client' },
  ]
  for (const [name, words] of Object.entries(commands))
    for (const { who, expected } of situations) {
      const ran = await who.run([...name.split(' '), ...words, '--json'])
      expect({ name, ended: `${ran.exitCode} ${failureIn(ran)}` }).toEqual({ name, ended: expected })
    }
}, 180_000)

test('what the server refuses has its code and the request ID', async () => {
  const developer = pipeline(world.server.url, world.app.development)
  const refused: Readonly<Record<string, readonly string[]>> = {
    version_not_found: ['versions', 'rollback', '--to', '9.9.9'],
    record_not_found: ['webhooks', 'ping', 'whk_none'],
    invalid_request: ['installs', 'list', '--resource-id', 'x'.repeat(200)],
  }
  for (const [code, words] of Object.entries(refused)) {
    const { exitCode, stdout, stderr } = await developer.run([...words, '--json'])
    expect({ words, exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ words, exitCode: 1, code })
    expect(JSON.parse(stdout).error.requestId).toMatch(/^req_/)
  }
})
