/** Words that come before a command and do not change what it is. */
const prefixes = [/^[A-Z][A-Z0-9_]*=/, /^(sudo|npx|-y|exec)$/, /^--allow-scripts=bun$/]

/**
 * The commands of a shell line, as words: quotes and comments are removed, and pipes, lists and redirections end a command.
 * Good for the lines in the guides, and no more.
 */
export const commandsOf = (line: string): readonly (readonly string[])[] => {
  const commands: string[][] = [[]]
  for (const [, double, single, bare, end] of line.matchAll(
    /"([^"]*)"|'([^']*)'|((?:[^\s"'|&;<>#]|(?<=\S)#|"[^"]*"|'[^']*')+)|(\|\||&&|[|;&]|\d?>>?|<|#.*)/g,
  )) {
    if (end === undefined) commands.at(-1)?.push(double ?? single ?? bare?.replaceAll(/["']/g, '') ?? '')
    else if (end.startsWith('#')) break
    else commands.push(/[<>]/.test(end) ? ['into a file'] : [])
  }
  return commands.map((words) => {
    const first = words.findIndex((word) => !prefixes.some((prefix) => prefix.test(word)))
    return first === -1 ? [] : words.slice(first)
  })
}
