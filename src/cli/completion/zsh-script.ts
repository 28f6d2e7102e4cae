import {
  type CompletedCommand,
  type CompletedOption,
  type Expected,
  quoted,
  quotedPlaces,
  valuesCommand,
} from './completed-command.ts'

/** Completion for zsh, made with its _arguments and _describe. */
export const zshScript = (commands: readonly CompletedCommand[]): string => `#compdef app-platform
_app_platform() {
  local at='' i depth=0
  local -a known
  for (( i = 2; i < CURRENT; i++ )); do
    case "$at $words[i]" in
      (${quotedPlaces(commands, quoted).join('|')}) at="$at $words[i]"; depth=$(( i - 1 )) ;;
    esac
  done
  shift $depth words
  (( CURRENT -= depth ))
  case "$at" in
${commands.map((command) => `    (${quoted(command.at)})\n${complete(command)}\n    ;;`).join('\n')}
  esac
}
_app_platform_values() {
  local -a found
  found=(\${(f)"$(command app-platform ${valuesCommand} $1 2>/dev/null </dev/null)"})
  compadd -a found
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _app_platform "$@"; else compdef _app_platform app-platform; fi
`

const complete = (command: CompletedCommand): string => {
  const options = command.options.flatMap(optionSpecs)
  if (command.commands.length > 0) {
    const known = command.commands.map(({ name, description }) => quoted(`${name}:${colons(description)}`))
    const spec = quoted('1: :{_describe command known}')
    return `      known=(${known.join(' ')})\n      _arguments ${[...options, spec].join(' ')}`
  }
  const places = command.arguments.map(({ name, expected }, index) =>
    quoted(`${index + 1}:${colons(name)}:${action(expected)}`),
  )
  return `      _arguments ${[...options, ...places].join(' ')}`
}

const optionSpecs = (option: CompletedOption): readonly string[] => {
  const description = `[${option.description.replaceAll(/[\\[\]]/g, String.raw`\$&`)}]`
  const value = option.value === null ? '' : `:${option.long}:${action(option.value)}`
  const long = quoted(`--${option.long}${option.value === null ? '' : '='}${description}${value}`)
  return option.short === null ? [long] : [long, quoted(`-${option.short}${description}${value}`)]
}

const action = (expected: Expected): string => {
  if (expected.kind === 'words') return `(${expected.words.join(' ')})`
  if (expected.kind === 'values') return `{_app_platform_values ${expected.of}}`
  return expected.kind === 'file' ? '_files' : ' '
}

const colons = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll(':', String.raw`\:`)
