import {
  type CompletedCommand,
  type CompletedOption,
  type Expected,
  quotedPlaces,
  valuesCommand,
} from './completed-command.ts'

/** Completion for fish: one line per word that can be completed. */
export const fishScript = (commands: readonly CompletedCommand[]): string => `# fish completion for app-platform
function __app_platform_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${quotedPlaces(commands, quote).join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c app-platform -f
${commands.flatMap(linesOf).join('\n')}
`

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`

const linesOf = (command: CompletedCommand): readonly string[] => {
  const here = `complete -c app-platform -n ${quote(`__app_platform_at "${command.at}"`)}`
  return [
    ...command.commands.map(({ name, description }) => `${here} -a ${name} -d ${quote(description)}`),
    ...command.arguments.flatMap(({ expected }) => wordsFor(expected).map((words) => `${here} ${words}`)),
    ...command.options.map((option) => `${here} ${optionWords(option)}`),
  ]
}

const wordsFor = (expected: Expected): readonly string[] => {
  if (expected.kind === 'words') return [`-a ${quote(expected.words.join(' '))}`]
  if (expected.kind === 'values') {
    return [`-a ${quote(`(command app-platform ${valuesCommand} ${expected.of} 2>/dev/null </dev/null)`)}`]
  }
  return expected.kind === 'file' ? ['-F'] : []
}

const optionWords = ({ long, short, description, value }: CompletedOption): string =>
  [
    `-l ${long}`,
    ...(short === null ? [] : [`-s ${short}`]),
    ...(value === null
      ? []
      : [value.kind === 'file' ? '-r -F' : '-x', ...wordsFor(value).filter((word) => word !== '-F')]),
    `-d ${quote(description)}`,
  ].join(' ')
