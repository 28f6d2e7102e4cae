import type { Command } from 'commander'
import { createProgram } from '../../../src/cli/program.ts'

const commandsBelow = (command: Command, at = ''): readonly (readonly [name: string, Command])[] =>
  command.commands.flatMap((child) => {
    const name = `${at}${child.name()}`
    return child.commands.length === 0 ? [[name, child] as const] : commandsBelow(child, `${name} `)
  })

const isHelp = (name: string): boolean => name === 'help' || name.endsWith(' help')

/** Every command of the program that can be called, by its name, such as `app member add`. */
export const everyCommand = commandsBelow(await createProgram()).filter(([name]) => !isHelp(name))
