import { Command } from 'commander'
import { addServeCommand } from './cli/commands/serve.ts'

process.umask(0o077)
const program = new Command('app-platform')
addServeCommand(program)
await program.parseAsync()
