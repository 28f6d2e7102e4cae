import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { run } from './run.ts'

/** The sorted completions of a shell for a line with the cursor at its end. */
export type Completer = (line: string) => Promise<readonly string[]>

const scriptFor = async (shell: string): Promise<string> => {
  const { exitCode, stdout, stderr } = await run(['completion', shell])
  if (exitCode !== 0 || stderr !== '') throw new Error(`completion ${shell} exited ${exitCode}: ${stderr}`)
  const file = join(temporaryFolder(), `completion.${shell}`)
  await Bun.write(file, stdout)
  return file
}

type Variables = Readonly<Record<string, string>>

const ask = async (command: readonly string[], cwd: string, env: Variables): Promise<string> => {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, TERM: 'dumb', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if (stderr !== '') throw new Error(`${command[0]}: ${stderr}`)
  return stdout
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .toSorted()

/** bash calls the function with the words of the line. `=` is a word of its own. */
export const bashIn = async (folder: string, env: Variables = {}): Promise<Completer> => {
  const file = await scriptFor('bash')
  return async (line) => {
    const words = line
      .split(' ')
      .flatMap((word) => word.split(/(=)/))
      .filter((word, index, all) => word !== '' || index === all.length - 1)
    const asked = `source "$0" && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1)) && _app_platform && printf '%s\\n' "\${COMPREPLY[@]}"`
    return linesOf(await ask(['bash', '--norc', '--noprofile', '-c', asked, file, ...words], folder, env))
  }
}

/** fish can print its completions; a description follows after a tab. */
export const fishIn = async (folder: string, env: Variables = {}): Promise<Completer> => {
  const file = await scriptFor('fish')
  return async (line) =>
    linesOf(
      await ask(['fish', '--no-config', '-c', 'source $FILE; complete -C "$LINE"'], folder, {
        ...env,
        FILE: file,
        LINE: line,
      }),
    ).map((offer) => offer.split('\t')[0] ?? '')
}

/**
 * zsh completes only interactively, so another zsh types the line. Replaced completion functions write what they are
 * given to a file. What compinit finds it keeps for the next line, since looking takes it seconds.
 */
const typing = `
zmodload zsh/zpty zsh/zselect
zpty -b shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -u -d $DUMP; source $FILE'
zpty -w shell 'compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
  local -a offered
  builtin compadd -A offered "$@"
  print -rl -- $offered >> offered
}'
zpty -w shell 'finish() { print -r -- END >> offered }; comppostfuncs=(finish)'
zpty -n -w shell "$LINE"$'\\t'
for (( i = 0; i < 7500; i++ )); do # 150 s: on a busy machine compinit alone takes half a minute
  [[ -e offered && "$(<offered)" == *END ]] && break
  zselect -t 2
done
zpty -d shell
cat offered
`
export const zshIn = async (folder: string, env: Variables = {}): Promise<Completer> => {
  const file = await scriptFor('zsh')
  const dump = join(temporaryFolder(), 'compinit')
  return async (line) => {
    rmSync(join(folder, 'offered'), { force: true })
    const offered = await ask(['zsh', '-f', '-c', typing], folder, { ...env, FILE: file, DUMP: dump, LINE: line })
    // A file name is offered with its escapes.
    return linesOf(offered.replaceAll('\\ ', ' ')).filter((word) => word !== 'END')
  }
}
