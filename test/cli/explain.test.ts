import { expect, test } from 'bun:test'
import { DatabaseUnusable } from '../../db/database.ts'
import { CommandFailed, UsageError } from '../../src/cli/output.ts'
import { explain } from '../../src/cli/explain.ts'
import { createProgram } from '../../src/cli/program.ts'
import { ConfigError } from '../../src/config.ts'
import { refuse } from '../../src/domain/errors.ts'
import { createPlatformClient } from '../../src/client/index.ts'
import { makeCertificates } from '../clients/support/certificates.ts'
import { needs } from '../support/needs.ts'
import { everyCommand } from './support/commands.ts'

test('wrong calls and wrong settings exit 2, everything else 1', () => {
  const requestId = null
  const two = { sentences: ['One.', 'Two.'], requestId }
  expect(explain(new UsageError('No.'))).toEqual({ exitCode: 2, code: 'usage', sentences: ['No.'], requestId })
  expect(explain(new ConfigError(['One.', 'Two.']))).toEqual({ exitCode: 2, code: 'invalid_settings', ...two })
  expect(explain(new CommandFailed(['One.', 'Two.']))).toEqual({ exitCode: 1, code: 'command_failed', ...two })
  const busy = { exitCode: 1, code: 'database_unusable', sentences: ['Busy.'], requestId } as const
  expect(explain(new DatabaseUnusable('busy', 'Busy.'))).toEqual(busy)
  expect(explain(refuse('version_not_found'))).toMatchObject({ exitCode: 1, code: 'version_not_found' })
  expect(explain('thrown text')).toMatchObject({ exitCode: 1, code: 'command_failed' })
})

test('every command refuses an empty argument by its name, before it does anything', async () => {
  for (const [name, { registeredArguments, options }] of everyCommand) {
    const flags = options
      .filter(({ mandatory }) => mandatory)
      .map(({ required, long, argChoices = ['1'] }) => (required ? `${long}=${argChoices[0]}` : `${long}`))
    for (const [place, argument] of registeredArguments.entries()) {
      if (argument.argChoices !== undefined) continue // refused with the list of what it may be
      const given = registeredArguments.map(({ argChoices = ['x'] }, at) =>
        at === place ? ' ' : (argChoices[0] ?? ''),
      )
      const words = [...name.split(' '), ...given, ...flags]
      const program = await createProgram(undefined, words)
      const refused = program.parseAsync(words, { from: 'user' })
      await expect(refused, words.join(' ')).rejects.toThrow(`The ${argument.name()} is empty`)
      await expect(refused).rejects.toBeInstanceOf(UsageError)
    }
  }
})

test('every command refuses an empty flag by its name, except a text that it may do without', async () => {
  const seen: string[] = []
  for (const [name, { registeredArguments, options }] of everyCommand) {
    const given = registeredArguments.map(({ argChoices = ['x'] }) => argChoices[0] ?? '')
    for (const { long, required, argChoices, parseArg } of options) {
      if (!required || argChoices !== undefined || parseArg !== undefined) continue // refused with what it may be
      const others = options
        .filter((option) => option.mandatory && option.long !== long)
        .map((option) => (option.required ? `${option.long}=${option.argChoices?.[0] ?? '1'}` : `${option.long}`))
      const words = [...name.split(' '), ...given, ...others, `${long}=`]
      if (['--notes', '--reason'].includes(String(long))) {
        seen.push(`${name} ${long}`)
        continue
      }
      const refused = (await createProgram(undefined, words)).parseAsync(words, { from: 'user' })
      await expect(refused, words.join(' ')).rejects.toThrow(`${long} is empty`)
      await expect(refused).rejects.toBeInstanceOf(UsageError)
    }
  }
  expect(seen).toEqual(['versions create --notes', 'versions rollback --reason'])
})

test('a refusal names the status that caused it', () => {
  const { sentences } = explain(refuse('version_not_eligible', { details: { status: 'draft' } }))
  expect(sentences).toEqual(['The status of the version does not allow this. Its status is draft.'])
})

const askedAt = async (url: string) => {
  const options = { clientId: 'a', clientSecret: 'b', appScope: 'c', retry: { repeats: 0 } }
  return explain(
    await createPlatformClient({ url, ...options })
      .appToken()
      .catch((error: unknown) => error),
  )
}

needs('openssl').test('a server that cannot be reached is explained by what the system says of it', async () => {
  const { certificate, key } = await makeCertificates()
  const secure = Bun.serve({
    port: 0,
    tls: { cert: Bun.file(certificate), key: Bun.file(key) },
    fetch: () => new Response(),
  })
  const plain = Bun.serve({ port: 0, fetch: () => new Response() })
  for (const [url, ...words] of [
    [`https://localhost:${secure.port}`, 'certificate is not trusted here (UNABLE_TO_', 'NODE_EXTRA_CA_CERTS'],
    [`https://localhost:${plain.port}`, 'does not speak HTTPS there'],
    [`http://localhost:${secure.port}`, 'Check the URL and the network'],
    [`https://nothing-here.invalid`, 'Its name is unknown'],
  ] as const) {
    const { sentences, code } = await askedAt(url)
    expect({ url, code }).toEqual({ url, code: 'unreachable' })
    for (const word of words) expect(sentences.join('\n')).toContain(word)
  }
  await plain.stop(true)
  await secure.stop(true)
  expect((await askedAt(`http://localhost:${plain.port}`)).sentences).toEqual([
    'The server cannot be reached. Nothing listens there: check the URL and its port, and that it runs.',
  ])
})

test('every sentence is one line', () => {
  expect(explain(new DatabaseUnusable('busy', 'First\n  second\r\nthird.')).sentences).toEqual(['First second third.'])
})

test('an error of a query does not show its values', () => {
  const cause = Object.assign(new Error('UNIQUE constraint failed'), { name: 'SQLiteError', code: 'SQLITE_CONSTRAINT' })
  const error = new Error("Failed query: insert into users values ('canary-secret')", { cause })
  const { sentences } = explain(error)
  expect(sentences.join()).not.toContain('canary')
  expect(sentences.join()).toContain('SQLITE_CONSTRAINT')
})

test('an error of the file system names the file', () => {
  const missing = Object.assign(new Error('open'), { code: 'ENOENT', path: '/proc/copy.db' })
  expect(explain(missing).sentences).toEqual(['There is no such file or folder: /proc/copy.db.'])
  const unheardOf = Object.assign(new Error('open'), { code: 'ENXIO', path: '/proc/copy.db' })
  expect(explain(unheardOf).sentences).toEqual(['/proc/copy.db cannot be used (ENXIO).'])
  const closed = Object.assign(new Error('write'), { code: 'EPIPE' })
  expect(explain(closed).sentences).toEqual(['The reader of the output stopped before all of it was written.'])
})

const ofSystem = (code: string, path?: string) =>
  Object.assign(new Error('write'), { code, ...(path !== undefined && { path }) })

test('errors of the file system and of SQLite are plain sentences, with or without a path', () => {
  const full = ['The disk is full: make room.']
  expect(explain(ofSystem('ENOSPC')).sentences).toEqual(full)
  const cause = Object.assign(new Error('database or disk is full'), { name: 'SQLiteError', code: 'SQLITE_FULL' })
  expect(explain(cause).sentences).toEqual(full)
  expect(explain(new Error('Failed query: insert', { cause })).sentences).toEqual(full)
  const codes =
    'EACCES EPERM EISDIR ELOOP ENAMETOOLONG ENOTDIR EEXIST EROFS ENOSPC EDQUOT EIO EMFILE ENFILE EPIPE ENOENT'.split(
      ' ',
    )
  for (const code of codes) {
    for (const path of [undefined, '/proc/copy.db']) {
      const [sentence = ''] = explain(ofSystem(code, path)).sentences
      expect(sentence).toMatch(/^[A-Z/][^\n]*\.$/)
      expect(sentence).not.toMatch(/The command failed|undefined|null/)
    }
  }
  for (const code of ['SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB'])
    expect(explain(ofSystem(code)).sentences.join()).toContain('restore a backup with app-platform restore FILE.')
})

test('a port that this user may not take is not called a file', () => {
  const error = Object.assign(new Error('listen'), { code: 'EACCES', syscall: 'listen' })
  expect(explain(error).sentences.join()).toContain('may not listen on a port below 1024: choose another port')
})

test.each(['300.1.1.1', 'no.such.host.invalid', '192.0.2.1'])(
  'an address that this machine does not have is reported: %p',
  (hostname) => {
    const listen = () => Bun.serve({ hostname, port: 0, fetch: () => new Response() })
    expect(listen).toThrow()
    try {
      listen()
    } catch (error) {
      expect(explain(error).sentences).toEqual(['This machine has no such address to listen on.'])
    }
  },
)

test('no flag of any command is read from the last of two different values', async () => {
  for (const [name, { registeredArguments, options }] of everyCommand) {
    const given = registeredArguments.map(({ argChoices = ['x'] }) => argChoices[0] ?? '')
    for (const { long, required, argChoices, parseArg } of options) {
      if (!required || argChoices?.length === 1 || parseArg !== undefined) continue
      const words = [
        ...name.split(' '),
        ...given,
        `${long}=${argChoices?.[0] ?? 'x'}`,
        `${long}=${argChoices?.[1] ?? 'y'}`,
      ]
      const program = await createProgram(undefined, words, null, () => undefined)
      const refused = program.parseAsync(words, { from: 'user' })
      await expect(refused, words.join(' ')).rejects.toThrow(`${long} is given twice`)
    }
  }
  const list = ['review', 'reject', 'newsletter', '1.0.0', '--item=a=First.', '--item=b=Second.', '--message=']
  const program = await createProgram(undefined, list, null, () => undefined)
  await expect(program.parseAsync(list, { from: 'user' })).rejects.toThrow('--message is empty') // not that --item comes twice
})

const isPath = (placeholder: string): boolean => /^(file|path|folder|source)$/.test(placeholder)

test('every flag and argument that is a path refuses what only a shell replaces, so that no folder is made of that name', async () => {
  let count = 0
  for (const [name, { options, registeredArguments }] of everyCommand) {
    const needed = options
      .filter(({ mandatory }) => mandatory)
      .map(({ long, argChoices, required }) => (required ? `${long}=${argChoices?.[0] ?? '1.0.0'}` : `${long}`))
    const given = registeredArguments.map((argument): string => argument.argChoices?.[0] ?? 'x').concat(needed)
    const flags = options.filter(({ flags: usage }) => /<(file|path|folder)>/.test(usage))
    const places = registeredArguments.flatMap((argument, place) => (isPath(argument.name()) ? [place] : []))
    for (const path of ['~/x', '~', '~ada/x', '$HOME/x', './${HOME}/x', './\uFFFD.db']) {
      const wrong = path.includes('\uFFFD') ? 'is not UTF-8' : 'has a ~ or a variable'
      for (const words of [
        ...flags.map(({ long }) => given.concat(`${long}=${path}`)),
        ...places.map((at) => given.with(at, path)),
      ]) {
        const program = await createProgram(undefined, [...name.split(' '), ...words], null, () => undefined)
        const refused = program.parseAsync([...name.split(' '), ...words], { from: 'user' })
        await expect(refused, `${name} ${words.join(' ')}`).rejects.toThrow(wrong)
        count += 1
      }
    }
  }
  expect(count).toBeGreaterThan(100)
})
