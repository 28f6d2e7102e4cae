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
      const command = findCommand(program, words)
      if (command === null)
        return void process.stdout.write(
          placesOf(
            program,
            guideAreas.flatMap(({ guides }) => guides),
            words.join(' '),
          ),
        )
      command.outputHelp()
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

const findCommand = (program: Command, words: readonly string[]): Command | null => {
  let command = program
  for (const word of words) {
    const child = command.commands.find((one) => one.name() === word)
    if (child === undefined) return null
    command = child
  }
  return command
}

/** What people call it, and how the guides and commands do. */
const otherWords: Readonly<Record<string, string>> = {
  '2fa': 'second factor',
  mfa: 'second factor',
  totp: 'second factor',
  otp: 'second factor',
  sso: 'identity provider',
  oidc: 'openid connect',
  smtp: 'mail',
  email: 'mail',
  tls: 'proxy',
  https: 'proxy',
  postgres: 'postgresql',
  prometheus: 'alerts',
  systemd: 'print systemd',
  dump: 'postgresql',
}

type Topic = { readonly topic: string; readonly title: string; readonly text: string }

/** The commands and the headings of guides that a word is in. @throws UsageError if it is in none */
const placesOf = (program: Command, guides: readonly Topic[], asked: string): string => {
  const word = (otherWords[asked.toLowerCase()] ?? asked).toLowerCase()
  const has = (text: string): boolean => text.toLowerCase().replaceAll('-', ' ').includes(word.replaceAll('-', ' '))
  const commands = commandsIn(program, '').filter(({ name, text }) => has(`${name} ${text}`))
  const headings = guides.flatMap(({ topic, text }) =>
    [...text.matchAll(/^#{1,3} (.+)$/gm)].flatMap(([, heading = '']) => (has(heading) ? [{ topic, heading }] : [])),
  )
  if (commands.length + headings.length === 0) {
    throw new UsageError('There is no such guide or command: app-platform help lists them.')
  }
  return [
    ...(commands.length === 0 ? [] : ['Commands, for app-platform help COMMAND:']),
    ...commands.map(({ name, text }) => `    ${name.padEnd(24)}${text}`),
    ...(headings.length === 0 ? [] : ['Guides, for app-platform help TOPIC:']),
    ...headings.map(({ topic, heading }) => `    ${topic.padEnd(24)}${heading}`),
    '',
  ].join('\n')
}

const commandsIn = (command: Command, before: string): readonly { readonly name: string; readonly text: string }[] =>
  command.commands.flatMap((child) => {
    const name = `${before}${child.name()}`
    return [{ name, text: child.description() }, ...commandsIn(child, `${name} `)]
  })
