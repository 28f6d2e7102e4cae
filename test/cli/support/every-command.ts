import { expect } from 'bun:test'
import type { Command } from 'commander'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lastingFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { everyCommand } from './commands.ts'
import { type Run, runHere } from './run.ts'

// What every command that works on the database has to do alike: the table is the list of all commands of the program.

const folder = lastingFolder()
chmodSync(folder, 0o777) // what root runs acts as the owner of the database
const someFile = join(folder, 'some-file')
writeFileSync(someFile, '{}\n')
/** Where `restore` looks for a backup. */
export const backupFile = join(folder, 'backup.db')

/** A word for an argument or a flag, such that the command gets as far as its database. */
const wordFor = (name: string, choices: readonly string[] | undefined): string => {
  if (choices !== undefined) return choices[0] ?? ''
  if (/file|backup|source/.test(name)) return someFile
  if (/email|owner|to$|member|user|person/.test(name)) return 'ada@example.com'
  if (/url|issuer|uri/.test(name)) return 'https://app.example.com/callback'
  if (/network/.test(name)) return '10.0.0.0/8'
  if (/days|number|hours|limit|port/.test(name)) return '1'
  if (/scope/.test(name)) return 'site:read'
  if (/rights/.test(name)) return 'users:read'
  return 'on'
}

/** What a command needs besides what its help demands, or to get as far as its database. */
const further: Readonly<Record<string, readonly string[]>> = {
  'user create': ['ada@example.com', '--generate-password'],
  'user invite': ['ada@example.com'],
  'user set-password': ['--password-stdin'],
  'endpoint resend': ['--failed'],
  recover: ['--accept-loss'],
  move: ['--to', join(folder, 'moved.db')],
  'user link': ['--external-id', '1'],
  'credential list': ['on'],
  'redirect list': ['on'],
  'review list': ['on'],
  'endpoint list': ['on'],
  'endpoint add': ['on', '--environment', 'production'],
}

/** Arguments that must be of a certain form, such as the files that are not the database. */
const formed: Readonly<Record<string, readonly string[]>> = {
  backup: [join(folder, 'copy.db'), '--force'],
  restore: [backupFile],
  'scope add': ['on:read'],
}

const argumentsFor = (command: Command): readonly string[] =>
  command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => wordFor(argument.name(), argument.argChoices))

/** The command with every argument and flag that it must have. */
const wordsFor = ([name, command]: readonly [string, Command]): readonly string[] => [
  ...name.split(' '),
  ...(formed[name] ?? argumentsFor(command)),
  ...command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, required, argChoices }) =>
      required ? [long ?? '', wordFor(long ?? '', argChoices)] : [long ?? ''],
    ),
  ...(further[name] ?? []),
]

const takesDatabase = ({ options }: Command) => options.some(({ long }) => long === '--database')
/** They name the database without opening it. */
const namesOnly = /^(print .*|completion-values)$/
/** Every command on a database file. */
export const everyOnFile = everyCommand
  .filter(([name, command]) => takesDatabase(command) && !namesOnly.test(name))
  .map((one) => [one[0], wordsFor(one)] as const)
/** These run until they are told to end. */
export const isServer = (name: string): boolean => name === 'serve' || name === 'dev'
/** Every command that works on a database of either engine, and ends by itself. `restore` and `move` take it out of use. */
export const every = everyOnFile.filter(([name]) => !isServer(name) && name !== 'restore' && name !== 'move')

/** Runs one command in this process. */
export const runOne = async (words: readonly string[], env: Readonly<Record<string, string>>): Promise<Run> =>
  await runHere(words, { env, cwd: folder, stdin: 'a long enough password\n' })

/** Runs all commands, and gives what each says and how it ends, without those that are not meant. */
export const runEvery = async (env: Readonly<Record<string, string>>, except = /^$/) => {
  const found: (readonly [name: string, run: Run])[] = []
  for (const [name, words] of every) if (!except.test(name)) found.push([name, await runOne(words, env)])
  return found
}

/** The different ways in which the commands end, each with the commands that do: one, if all say the same. */
export const endings = (found: readonly (readonly [string, Run])[]) => {
  const by: Record<string, readonly string[]> = {}
  for (const [name, { exitCode, stdout, stderr }] of found) {
    const ending = `${exitCode} ${stderr}${stdout === '' ? '' : 'and on stdout something'}`
    by[ending] = [...(by[ending] ?? []), name]
  }
  return by
}

/** Expects that every command ends with this one sentence, and shows those that do not. */
export const expectOne = async (env: Readonly<Record<string, string>>, sentence: string, except?: RegExp) => {
  const found = endings(await runEvery(env, except))
  expect(Object.keys(found).length === 1 ? Object.keys(found) : found).toEqual([`1 error: ${sentence}\n`])
}

export const fileWith = (write: (file: string) => void): string => {
  const file = join(temporaryFolder(), 'app-platform.db')
  writeFileSync(file, '', { mode: 0o600 })
  write(file)
  return file
}
export const urlOf = (file: string) => ({ DATABASE_URL: `file:${file}` })
