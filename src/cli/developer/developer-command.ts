import type { Command } from 'commander'

/** What every command of an app developer takes. */
export type DeveloperFlags = {
  readonly url?: string
  readonly insecureHttp?: boolean
  readonly json?: boolean
}

/** A command on a server somewhere, with the flags that all of them have. `usage` is its name and its arguments. */
export const developerCommand = (parent: Command, usage: string, description: string): Command =>
  parent
    .command(usage)
    .description(description)
    .option('--url <origin>', 'the server (APP_PLATFORM_URL; by default the one that you are logged in to)')
    .option('--insecure-http', 'let the secret travel over plain HTTP to another machine')
    .option('--json', 'print exactly one JSON value on stdout')

/** Where the credentials come from, for the help of every command that needs them. */
export const credentialsHelp = `
Credentials come from APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET, then from what login kept. There is no
flag for them: other users of a machine can read command lines.`
