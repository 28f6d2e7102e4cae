import type { Command } from 'commander'
import { UsageError } from '../output.ts'

/** Replaces commander's own `help`, so that it also prints guides. No guide has the name of a command. */
export const addHelpCommand = (program: Command): void => {
  program
    .command('help')
    .description('Print a guide or the help of a command; without a topic, list both.')
    .argument('[topic...]', 'a guide or a command')
    .action(async (words: readonly string[]) => {
      const { findGuide, guideAreas } = await import('../../guides/index.ts') // imported here, because no other command needs it
      const guide = findGuide(words.join(' '))
      if (guide !== null) return void process.stdout.write(forTerminal(guide.text))
      findCommand(program, words).outputHelp()
      if (words.length > 0) return
      process.stdout.write('\nGuides, for app-platform help TOPIC:\n')
      for (const { name, guides } of guideAreas) {
        const lines = guides.map(({ topic, title }) => `    ${topic.padEnd(20)}${title}\n`)
        process.stdout.write(`  ${name}:\n${lines.join('')}`)
      }
    })
}

/** Without markers for tests. A link to another guide names its topic, because no file is there. */
const forTerminal = (text: string): string =>
  text.replaceAll(/^<!-- .* -->\n/gm, '').replaceAll(/\]\((?!https?:)[^)]*?([a-z-]+)\.md(?:#[^)]*)?\)/g, '](help $1)')

const findCommand = (program: Command, words: readonly string[]): Command => {
  let command = program
  for (const word of words) {
    const child = command.commands.find((one) => one.name() === word)
    if (child === undefined) throw new UsageError('There is no such guide or command: app-platform help lists them.')
    command = child
  }
  return command
}
