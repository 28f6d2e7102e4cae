import { describe, expect, test } from 'bun:test'
import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createProgram } from '../src/cli/program.ts'
import { commandPlaces, remotePlaceOf } from '../src/cli/remote-commands.ts'
import { readConfig } from '../src/config.ts'
import { sharedSettings } from '../src/config/shared.ts'
import { isErrorCode, statusOf } from '../src/domain/errors.ts'
import { webhookKinds } from '../src/domain/webhook-event.ts'
import { guideAreas } from '../src/guides/index.ts'
import { conditionNames } from '../src/operations/health/health.ts'
import { codeLines, documents, fragmentsOf, guide, inlineCode, linksOf, marked, namesOf } from './support/documents.ts'
import { commandsOf } from './support/shell-line.ts'

const root = join(import.meta.dir, '..')
const all = await documents()
const { scripts, dependencies, devDependencies } = await Bun.file(join(root, 'package.json')).json()

const hasRemedy = (text: string) =>
  /(: |, or |; )[a-z]|\$\{(remedy|restore|verdict|noRoomSentence\(file\)|why)\}/.test(text)

/** The files whose sentences name a fault of the machine, of the store or of what the server needs. */
const faultFiles = [
  'db/**/*.ts',
  'src/cli/{explain,readable-backup,operator-command}.ts',
  'src/cli/commands/{serve,health,backup,move,recover,mail}.ts',
  'src/operations/clock.ts',
  'src/operations/{health,backups}/*.ts',
  'src/runtime/{passwords,mailer,identity}.ts',
  'src/http/server.ts',
  'src/server.ts',
]

describe('length and links', () => {
  test('the README has at most 200 lines, and every other document at most 250', () => {
    const long = all.filter(({ path, text }) => text.split('\n').length - 1 > (path === 'README.md' ? 200 : 250))
    expect(long.map(({ path }) => path)).toEqual([])
  })

  test('every link between documents leads to a file and a heading that exist', () => {
    const broken = all.flatMap((document) =>
      linksOf(document)
        .filter(({ file, fragment }) => {
          const target = all.find(({ path }) => path === file)
          return target === undefined
            ? !existsSync(join(root, file)) || fragment !== ''
            : fragment !== '' && !fragmentsOf(target.text).includes(fragment)
        })
        .map(({ target }) => `${document.path}: ${target}`),
    )
    expect(broken).toEqual([])
    expect(all.flatMap(linksOf).length).toBeGreaterThan(60)
  })

  test('a guide links to guides only, because the program contains nothing else', () => {
    const outside = all
      .filter(({ path }) => path.startsWith('src/guides/'))
      .flatMap((document) => linksOf(document).map(({ file }) => `${document.path}: ${file}`))
      .filter((link) => !link.includes(': src/guides/'))
    expect(outside).toEqual([])
  })

  test('the program contains every guide, under a topic that is not the name of a command', async () => {
    const guides = guideAreas.flatMap((area) => area.guides)
    const topics = guides.map(({ topic }) => topic)
    const files = all.filter(({ path }) => path.startsWith('src/guides/'))
    expect(topics.toSorted()).toEqual(files.map(({ path }) => basename(path, '.md')).toSorted())
    expect(guides.map(({ text }) => text).toSorted()).toEqual(files.map(({ text }) => text).toSorted())
    const commands = new Set((await createProgram()).commands.map((command) => command.name()))
    expect(topics.filter((topic) => commands.has(topic))).toEqual([])
    expect(new Set(topics).size).toBe(topics.length)
  })

  test('every guide is linked from the README', () => {
    const linked = all.filter(({ path }) => path === 'README.md').flatMap(linksOf)
    const guides = all.map(({ path }) => path).filter((path) => path.startsWith('src/guides/'))
    expect(guides.filter((path) => !linked.some(({ file }) => file === path))).toEqual([])
  })
})

/** The command that the words name, and what follows its name. */
const findCommand = async (
  words: readonly string[],
): Promise<{ readonly command: Command; readonly rest: readonly string[] }> => {
  let command = await createProgram()
  let at = 0
  for (;;) {
    const child = command.commands.find((one) => one.name() === words[at])
    if (child === undefined) return { command, rest: words.slice(at) }
    command = child
    at += 1
  }
}

/** Why the command line does not accept the words; null if it does. Nothing is run. */
const faultOf = async (words: readonly string[]): Promise<string | null> => {
  const { command, rest } = await findCommand(words)
  if (rest.join() === '--version' && command.parent === null) return null
  if (command.commands.length > 0) return `${rest[0] ?? 'nothing'} is no command of ${command.name()}`
  command.configureOutput({ writeErr: () => undefined })
  try {
    const { operands, unknown } = command.parseOptions([...rest])
    if (unknown.length > 0) return `${unknown.join(' ')} is unknown`
    const given = command.opts()
    const missing = command.options.find((option) => option.mandatory && given[option.attributeName()] === undefined)
    if (missing !== undefined) return `${missing.long} is missing`
    const required = command.registeredArguments.filter((argument) => argument.required).length
    const most = command.registeredArguments.length
    if (operands.length < required || operands.length > most) return `takes ${required} to ${most} arguments`
    const wrong = operands.find((word, at) => command.registeredArguments[at]?.argChoices?.includes(word) === false)
    return wrong === undefined ? null : `${wrong} is no choice`
  } catch (error) {
    return String(error)
  }
}

/** The words after the program's name, or null for the command of another program. */
const wordsForUs = ([first = '', second = '', ...more]: readonly string[]): readonly string[] | null => {
  if (/^(.*\/)?app-platform$/.test(first)) return second === '' ? [] : [second, ...more]
  return first === 'bun' && second === 'src/main.ts' ? more : null
}

describe('commands', () => {
  test('every line of a code block that calls the program is accepted by the command line', async () => {
    const lines = all.flatMap(({ path, text }) => codeLines(text, 'sh').map((line) => ({ path, line })))
    const ours = lines.flatMap(({ path, line }) =>
      commandsOf(line).flatMap((command) => {
        const words = wordsForUs(command)
        return words === null ? [] : [{ path, line, words }]
      }),
    )
    const faults = await Promise.all(
      ours.map(async ({ path, line, words }) => ({ where: `${path}: ${line}`, fault: await faultOf(words) })),
    )
    expect(faults.filter(({ fault }) => fault !== null)).toEqual([])
    expect(ours.length).toBeGreaterThan(70)
  })

  test('every command that a sentence names exists, with the flags that it names', async () => {
    const named = all.flatMap(({ path, text }) =>
      inlineCode(text)
        .map((code) => ({ path, code, words: wordsForUs(code.split(' ')) }))
        .filter(({ words }) => words !== null && words.length > 0),
    )
    const faultsOf = async ({ path, code, words }: (typeof named)[number]): Promise<readonly string[]> => {
      const { command, rest } = await findCommand(words ?? [])
      const flags = rest.filter((word) => word.startsWith('--')).map((word) => word.replace(/=.*/, ''))
      const known = new Set(['--help', '--version', ...command.options.map(({ long }) => long)])
      const isKnown = (command.parent !== null || rest[0] === '--version') && flags.every((flag) => known.has(flag))
      return isKnown ? [] : [`${path}: ${code}`]
    }
    expect((await Promise.all(named.map(faultsOf))).flat()).toEqual([])
    expect(named.length).toBeGreaterThan(20)
  })

  test('every script that a document names exists', () => {
    const named = all.flatMap(({ path, text }) =>
      [...text.matchAll(/bun(?:@1\.4\.5)? run ([a-z:]+)/g)].map(([, script = '']) => ({ path, script })),
    )
    expect(named.filter(({ script }) => !Object.hasOwn(scripts, script))).toEqual([])
    expect(named.length).toBeGreaterThan(20)
  })

  test('src/README.md gives a reason for every dependency', () => {
    const reasons = all.find(({ path }) => path === 'src/README.md')?.text ?? ''
    const names = Object.keys({ ...dependencies, ...devDependencies })
    expect(names.filter((name) => !reasons.includes(`\`${name}\``))).toEqual([])
  })

  test('every proof that a document names exists', async () => {
    const proofs = await Bun.file(join(root, 'test/prove.ts')).text()
    const table =
      all
        .find(({ path }) => path === 'test/PROOFS.md')
        ?.text.split('## Results')[1]
        ?.split('\n## ')[0] ?? ''
    const named = namesOf(table).map((name) => name.split(' ')[0] ?? '')
    const known = [...proofs.matchAll(/^ {2}'?([a-z-]+)'?: \{$/gm)].map(([, name = '']) => name)
    expect(known.filter((name) => !named.includes(name))).toEqual([])
    const unknown = named.filter((name) => !known.includes(name))
    expect(unknown.filter((name) => !name.startsWith('bun') && !name.startsWith('TMPDIR'))).toEqual([])
  })
})

/** Variables in the guides that are not settings of the server. */
const otherVariables =
  /^(APP_PLATFORM_(URL|CLIENT_ID|CLIENT_SECRET|SERVICE_KEY|SERVICE_KEY_FILE|PROGRAM)|BUN_TMPDIR|NODE_EXTRA_CA_CERTS|XDG_CONFIG_HOME|TMPDIR|CI|CHROMIUM|POSTGRES|TEST_DATABASE|SCREENSHOTS|CERTIFICATES|CLIENT_ID|CLIENT_SECRET|REDIRECT_URI|APP_URL|WEBHOOK_SECRET|BASE|EMAIL|PASSWORD|ISSUER|SCOPE|TRUSTED_PROXY|AUTHLIB_INSECURE_TRANSPORT|OAUTHLIB_INSECURE_TRANSPORT)$/

describe('names', () => {
  test('the guide to remote commands lists those that run over the network', async () => {
    const listed = inlineCode(marked(await guide('operate/remote-commands'), 'commands'))
    const remote = Object.keys(commandPlaces).filter((name) => remotePlaceOf(name) !== null)
    expect(listed.toSorted()).toEqual(remote.toSorted())
  })

  const settings = new Set<string>()
  readConfig({}, new Proxy({}, { get: (_, name) => void settings.add(String(name)) }))

  test('the settings guide has a row for every setting, and for nothing else', async () => {
    const listed = namesOf((await guide('operate/settings')).replaceAll(/^\| `(on|off)`/gm, ''))
    expect(listed.toSorted()).toEqual([...settings].toSorted())
  })

  test('the guide to PostgreSQL lists the settings that must agree', async () => {
    const listed = inlineCode(marked(await guide('operate/postgresql'), 'shared'))
    expect(listed.toSorted()).toEqual(Object.keys(sharedSettings(readConfig({}, {}))).toSorted())
  })

  test('every setting that a document names exists', () => {
    const named = all.flatMap(({ path, text }) => {
      const exports = codeLines(text, 'sh').filter((line) => line.startsWith('export '))
      const inSentences = inlineCode(text).map((code) => /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(=|$)/.exec(code)?.[1])
      const exported = [...exports.join(' ').matchAll(/\b([A-Z][A-Z_]+)=/g)].map(([, name]) => name)
      return inSentences.concat(exported).map((name) => ({ path, name }))
    })
    const unknown = named.filter(({ name }) => name !== undefined && !settings.has(name) && !otherVariables.test(name))
    expect(unknown.map(({ path, name }) => `${path}: ${name}`)).toEqual([])
  })

  test('the guide to errors has every code of the API with its status', async () => {
    const source = await Bun.file(join(root, 'src/domain/errors.ts')).text()
    const codes = [...source.matchAll(/^ {2}([a-z_]+): \[\d+, /gm)].map(([, code = '']) => code)
    const table = marked(await guide('develop/errors'), 'codes')
    expect(namesOf(table)).toEqual(codes)
    for (const [, code = '', status] of table.matchAll(/^\| `([a-z_]+)` \| (\d+) \|/gm)) {
      expect(`${code} ${isErrorCode(code) ? statusOf(code) : ''}`).toBe(`${code} ${status}`)
    }
  })

  test('the guide to wire formats names every call that the description of the API for apps has, and no other', async () => {
    const { paths } = await Bun.file(join(root, 'test/flows/openapi.golden.json')).json()
    const described = Object.keys(paths)
      .filter((path) => /^\/(api\/app-platform|oauth|\.well-known)\//.test(path))
      .flatMap((path) => Object.keys(paths[path]).map((verb) => `${verb.toUpperCase()} ${path}`))
    const named = inlineCode(await guide('develop/wire-formats')).filter((code) => /^(GET|POST|DELETE) \//.test(code))
    const page = 'GET /oauth/authorize' // not part of the API
    expect(new Set(named.filter((call) => call !== page))).toEqual(
      new Set(described.map((call) => call.replace(' /api/app-platform', ' '))),
    )
  })

  test('the guides list every kind of webhook event and every condition of the server', async () => {
    const kinds = namesOf(marked(await guide('develop/webhook-events'), 'kinds'))
    expect(kinds.toSorted()).toEqual([...webhookKinds].toSorted())
    const conditions = namesOf(marked(await guide('operate/monitoring'), 'conditions'))
    expect(conditions.toSorted()).toEqual([...conditionNames].toSorted())
  })

  test('the guide to monitoring has every event of the log', async () => {
    const sources = [...new Bun.Glob('{src,db}/**/*.{ts,tsx}').scanSync(root)]
    const code = await Promise.all(sources.map(async (file) => await Bun.file(join(root, file)).text()))
    const logged = [...code.join('\n').matchAll(/\blog\.(?:info|warn|error)\(\s*'([a-z_.]+)'/g)].map(
      ([, name = '']) => name,
    )
    const listed = namesOf(marked(await guide('operate/monitoring'), 'events'))
    expect(listed.toSorted()).toEqual([...new Set([...logged, 'http.answered'])].toSorted()) // most of the log: written by hand
  })

  test('the guide to monitoring has every alert that the program prints', async () => {
    const printed = [
      ...(await Bun.file(join(root, 'src/cli/print/alert-rules.yml')).text()).matchAll(/- alert: (\w+)/g),
    ]
    const listed = namesOf(marked(await guide('operate/monitoring'), 'alerts'))
    expect(listed.toSorted()).toEqual(printed.map(([, name = '']) => name).toSorted())
  })

  test('every message in the guide to troubleshooting is one that the program can print', async () => {
    const sources = [...new Bun.Glob('{src,db}/**/*.{ts,tsx}').scanSync(root)]
    const code = (await Promise.all(sources.map(async (file) => await Bun.file(join(root, file)).text()))).join('\n')
    const messages = namesOf(marked(await guide('operate/troubleshooting'), 'messages'))
    expect(messages.filter((message) => !code.includes(message))).toEqual([])
    expect(messages.length).toBeGreaterThan(25)
  })

  test('every sentence that names a fault says itself what to do, or is in the guide to troubleshooting', async () => {
    const sources = faultFiles.flatMap((pattern) => Array.from(new Bun.Glob(pattern).scanSync(root)))
    const code = (await Promise.all(sources.map(async (file) => await Bun.file(join(root, file)).text()))).join('\n')
    const messages = namesOf(marked(await guide('operate/troubleshooting'), 'messages'))
    // What a constructor is given, and the constants and functions of sentences beside it, are the same words in quotes.
    const quoted = [
      ...code.matchAll(
        /(?:DatabaseUnusable\(\s*'\w+',|CommandFailed\(\[|warning\(\s*'\w+',|[sS]entence(?: =|:)|(?<=[=!]== [^?]{1,60}) [?:]|=>)\s*(['`])([^'`\n]{20,})\1/g,
      ),
    ]
    const sentences = quoted
      .map(([, , text = '']) => text)
      .filter((text) => /^(\$\{|[A-Z])/.test(text) && text.endsWith('.'))
      .filter((text) => !/^(Name|Run|The copy was kept) /.test(text)) // what to do, and no fault
    expect(sentences.length).toBeGreaterThan(80)
    // What follows the name of a PostgreSQL, in a table by the kind of the fault.
    const refusals = [...code.matchAll(/\[\s*'(?:unreachable|down|busy|damaged|altered)',\s*(['`])([^'`\n]+\.)\1/g)]
    expect(refusals.length).toBeGreaterThan(20)
    const all = sentences.concat(refusals.map(([, , text = '']) => text))
    const unlisted = all.filter((text) => !hasRemedy(text) && !messages.some((message) => text.includes(message)))
    expect([...new Set(unlisted)]).toEqual([])
  })
})
