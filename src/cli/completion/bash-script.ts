import {
  type CompletedCommand,
  type CompletedOption,
  type Expected,
  quoted,
  quotedPlaces,
  valuesCommand,
} from './completed-command.ts'

/**
 * Completion for bash. It needs no other package, starts the program only for values, and never evaluates what has been typed
 * or printed.
 */
export const bashScript = (commands: readonly CompletedCommand[]): string => `# bash completion for app-platform
_app_platform() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at='' i
  # bash makes three words of --flag=value.
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for (( i = 1; i < COMP_CWORD; i++ )); do
    case "$at \${COMP_WORDS[i]}" in
      ${quotedPlaces(commands, quoted).join(' | ')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at $prev" in
${valuePlaces(commands).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case "$at" in
${commands.map((command) => `      ${quoted(command.at)}) ${offer(flagsOf(command))} ;;`).join('\n')}
    esac
    return
  fi
  case "$at" in
${commands.map((command) => `    ${quoted(command.at)}) ${offerWords(command)} ;;`).join('\n')}
  esac
}
_app_platform_file() {
  local IFS=$'\\n' # for names with spaces, where an old bash lists files here
  compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$cur"))
}
_app_platform_values() {
  local value
  while IFS= read -r value; do
    if [[ $value == "$cur"* ]]; then COMPREPLY+=("$value"); fi
  done < <(command app-platform ${valuesCommand} "$1" 2>/dev/null </dev/null)
}
complete -F _app_platform app-platform
`

/** -W contains only our own words, because bash expands it. */
const offer = (words: readonly string[]): string => `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$cur"))`

const offerExpected = (expected: Expected): string => {
  if (expected.kind === 'words') return offer(expected.words)
  if (expected.kind === 'values') return `_app_platform_values ${expected.of}`
  return expected.kind === 'file' ? '_app_platform_file' : ':'
}

const spellings = ({ long, short }: CompletedOption): readonly string[] => [
  `--${long}`,
  ...(short === null ? [] : [`-${short}`]),
]
const flagsOf = ({ options }: CompletedCommand): readonly string[] => options.flatMap(spellings)

const valuePlaces = (commands: readonly CompletedCommand[]): readonly string[] =>
  commands.flatMap((command) =>
    command.options.flatMap((option) => {
      if (option.value === null) return []
      const places = spellings(option).map((flag) => quoted(`${command.at} ${flag}`))
      return [`    ${places.join(' | ')}) ${offerExpected(option.value)}; return ;;`]
    }),
  )

const offerWords = (command: CompletedCommand): string => {
  if (command.commands.length > 0) return offer(command.commands.map(({ name }) => name))
  const expected = command.arguments.map((argument) => argument.expected).find(({ kind }) => kind !== 'unknown')
  return expected === undefined ? ':' : offerExpected(expected)
}
