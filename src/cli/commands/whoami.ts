import type { Command } from 'commander'
import { credentialsHelp, developerCommand, type DeveloperFlags } from '../developer/developer-command.ts'
import { interruptible } from '../developer/interruption.ts'
import { answerRecord } from '../output.ts'
import { openRemote } from '../remote.ts'

export const addWhoamiCommand = (program: Command): void => {
  developerCommand(program, 'whoami', 'Tell which app the credentials belong to, and where they come from.')
    .addHelpText('after', `${credentialsHelp}\n\nExample:\n  app-platform whoami --json\n`)
    .action(async (flags: DeveloperFlags) => await interruptible(async (signal) => await whoami(flags, signal)))
}

const whoami = async (flags: DeveloperFlags, signal: AbortSignal): Promise<void> => {
  const { client, url, source } = await openRemote(flags, { signal })
  answerRecord(flags, { ...(await client.me({ signal })), url, credentials: source })
}
