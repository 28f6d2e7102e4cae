import type { Argument, Command, Option } from 'commander'

/** What an argument can be: one of a few words, one of what the platform has, a file, or something else. */
export type Expected =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'values'; readonly of: CompletedValues }
  | { readonly kind: 'file' | 'unknown' }

/** What `valuesCommand` prints: the slugs of the apps in the database, or what the developer's app has on the server. */
export const completedValues = ['apps', 'versions', 'endpoints'] as const
export type CompletedValues = (typeof completedValues)[number]

/** The hidden command that the scripts run for values. Everything else they know. */
export const valuesCommand = 'completion-values'

export type CompletedOption = {
  readonly long: string
  /** One letter, without the dash. */
  readonly short: string | null
  readonly description: string
  /** Its argument; null for a flag without one. */
  readonly value: Expected | null
}

export type CompletedCommand = {
  /** The words of the command without the program's name, each after a space. */
  readonly at: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly CompletedOption[]
  readonly arguments: readonly { readonly name: string; readonly expected: Expected }[]
}

/** The program and all its commands, taken from the definitions that the help is made of. `topics` are those of `help`. */
export const completedCommands = (
  command: Command,
  topics: readonly string[],
  at = '',
): readonly CompletedCommand[] => {
  const help = command.createHelp()
  // The `help` of a group repeats what --help says.
  const commands = help.visibleCommands(command).filter((child) => at === '' || child.name() !== 'help')
  const own: CompletedCommand = {
    at,
    commands: commands.map((child) => ({ name: child.name(), description: firstLine(child.description()) })),
    options: help.visibleOptions(command).flatMap((option) => completedOption(at, option)),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      expected: at === ' help' ? { kind: 'words', words: topics } : expectedOf(at, argument.name(), argument),
    })),
  }
  return [own, ...commands.flatMap((child) => completedCommands(child, topics, `${at} ${child.name()}`))]
}

const completedOption = (at: string, option: Option): readonly CompletedOption[] => {
  if (option.long === undefined || option.long === null) return []
  const takesValue = option.required || option.optional
  return [
    {
      long: option.long.replace(/^--/, ''),
      short: option.short?.replace(/^-/, '') ?? null,
      description: firstLine(option.description),
      value: takesValue ? expectedOf(at, option.flags, option) : null,
    },
  ]
}

/** The placeholder in the help, such as `<file>`, says what kind of value it is. */
const expectedOf = (
  at: string,
  placeholder: string,
  { argChoices }: Pick<Argument | Option, 'argChoices'>,
): Expected => {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices }
  const value = placeholder.replace(/^--\S+/, '')
  if (/\b(file|dir|folder|path|source)\b/i.test(value)) return { kind: 'file' }
  if (/\bapp\b/.test(value)) return { kind: 'values', of: 'apps' }
  if (at.startsWith(' webhooks ') && value === 'endpointId') return { kind: 'values', of: 'endpoints' }
  // A new version is none of those that exist, and an operator's versions are those of the app that was named.
  const isExisting = at === ' versions show' || at === ' versions rollback'
  return isExisting && /\bversion\b/.test(value) ? { kind: 'values', of: 'versions' } : { kind: 'unknown' }
}

/** Where the commands below the program are, each quoted for the shell. */
export const quotedPlaces = (commands: readonly CompletedCommand[], quote: (text: string) => string) =>
  commands.filter(({ at }) => at !== '').map(({ at }) => quote(at))

/** A text as one literal word of bash or zsh. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const firstLine = (text: string): string => text.split('\n')[0] ?? ''
