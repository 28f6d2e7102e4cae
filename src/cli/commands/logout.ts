import type { Command } from 'commander'
import { forgetLogin } from '../developer/credential-file.ts'
import { developerCommand, type DeveloperFlags } from '../developer/developer-command.ts'
import { readDeveloperSettings } from '../developer/settings.ts'
import { answer } from '../output.ts'
import { serverOf } from '../remote.ts'

const help = `
Removes the file on this machine. The secret itself goes on working: to end it, rotate or revoke it in the console.

Example:
  app-platform logout --url https://apps.example.com
`

export const addLogoutCommand = (program: Command): void => {
  developerCommand(program, 'logout', 'Forget the credentials that login kept for a server.')
    .addHelpText('after', help)
    .action((flags: DeveloperFlags) => {
      const settings = readDeveloperSettings(flags)
      const url = serverOf(settings)
      const removed = forgetLogin(settings.folder, url)
      const text = removed
        ? `Logged out of ${url}. The secret itself goes on working.`
        : `You were not logged in to ${url}.`
      answer(flags, { url, removed }, text)
    })
}
