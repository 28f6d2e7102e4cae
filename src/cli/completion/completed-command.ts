import type { Argument, Command, Option } from 'commander'

/** What an argument can be: one of a few words, a file, or something that the shell cannot know. */
export type Expected =
  { readonly kind: 'words'; readonly words: readonly string[] } | { readonly kind: 'file' | 'unknown' }

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

/** The program and all its commands, taken from the definitions that the help is made of. */
export const completedCommands = (command: Command, at = ''): readonly CompletedCommand[] => {
  const help = command.createHelp()
  // `help` repeats what --help says.
  const commands = help.visibleCommands(command).filter((child) => child.name() !== 'help')
  const own: CompletedCommand = {
    at,
    commands: commands.map((child) => ({ name: child.name(), description: firstLine(child.description()) })),
    options: help.visibleOptions(command).flatMap(completedOption),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      expected: expectedOf(argument.name(), argument),
    })),
  }
  return [own, ...commands.flatMap((child) => completedCommands(child, `${at} ${child.name()}`))]
}

const completedOption = (option: Option): readonly CompletedOption[] => {
  if (option.long === undefined || option.long === null) return []
  const takesValue = option.required || option.optional
  return [
    {
      long: option.long.replace(/^--/, ''),
      short: option.short?.replace(/^-/, '') ?? null,
      description: firstLine(option.description),
      value: takesValue ? expectedOf(option.flags, option) : null,
    },
  ]
}

/** The placeholder in the help, such as `<file>`, says what kind of value it is. */
const expectedOf = (placeholder: string, { argChoices }: Pick<Argument | Option, 'argChoices'>): Expected => {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices }
  return /\b(file|dir|folder|path)\b/i.test(placeholder.replace(/^--\S+/, '')) ? { kind: 'file' } : { kind: 'unknown' }
}

/** Where the commands below the program are, each quoted for the shell. */
export const quotedPlaces = (commands: readonly CompletedCommand[], quote: (text: string) => string) =>
  commands.filter(({ at }) => at !== '').map(({ at }) => quote(at))

/** A text as one literal word of bash or zsh. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const firstLine = (text: string): string => text.split('\n')[0] ?? ''
