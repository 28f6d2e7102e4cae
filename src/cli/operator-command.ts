import { type Command, Option } from 'commander'
import { readConfig } from '../config.ts'
import { environments } from '../domain/app.ts'
import { actAsOwnerOfFolder } from '../runtime/identity.ts'

/** What every operator command takes. */
export type CommonFlags = { readonly database?: string; readonly json?: boolean }

/** A command on the database itself, with the flags that all of them have. `usage` is its name and its arguments. */
export const operatorCommand = (parent: Command, usage: string, description: string): Command =>
  parent
    .command(usage)
    .description(description)
    .option('--database <file>', 'the database file (DATABASE_URL, default file:./data/app-platform.db)')
    .option('--json', 'print exactly one JSON value on stdout')
    // Before anything is opened: root would leave files that the server, which is another user, cannot open.
    .hook('preAction', (command) => {
      const { database } = command.opts<CommonFlags>()
      actAsOwnerOfFolder(readConfig({ database }).databasePath)
    })

export const environmentOption = (): Option =>
  new Option('--environment <environment>', 'the environment').choices(environments).makeOptionMandatory()
