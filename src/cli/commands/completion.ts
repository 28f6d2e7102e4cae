import { Argument, type Command } from 'commander'
import type { PlatformClient } from '../../client/index.ts'
import { listApps } from '../../operations/apps/lists.ts'
import { bashScript } from '../completion/bash-script.ts'
import {
  completedCommands,
  type CompletedValues,
  completedValues,
  valuesCommand,
} from '../completion/completed-command.ts'
import { fishScript } from '../completion/fish-script.ts'
import { zshScript } from '../completion/zsh-script.ts'
import { databaseCommand } from '../operator-command.ts'
import { openRemote } from '../remote.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const
type Shell = keyof typeof scripts

const whereTo = `
Each shell reads it from its own place:
  app-platform completion bash > ~/.local/share/bash-completion/completions/app-platform
  app-platform completion zsh > "\${fpath[1]}/_app-platform"
  app-platform completion fish > ~/.config/fish/completions/app-platform.fish
or for the shell that is open:
  source <(app-platform completion bash)`

export const addCompletionCommand = (program: Command): void => {
  program
    .command('completion')
    .description('Print the completion script for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .addHelpText('after', whereTo)
    .action(async (shell: Shell) => {
      const { guideAreas } = await import('../../guides/index.ts') // imported here, because no other command needs it
      const topics = guideAreas.flatMap(({ guides }) => guides.map(({ topic }) => topic))
      process.stdout.write(scripts[shell](completedCommands(program, topics)))
    })
  databaseCommand(program, valuesCommand, 'Print the values that a completion script offers.', { hidden: true })
    .addArgument(new Argument('<what>', 'what').choices(completedValues))
    .action(printValues)
}

/** Somebody waits at the keyboard. */
const longestMs = 2_000

/** Prints what can be found quickly with the settings of the environment. Without them, or on any failure, nothing is offered. */
const printValues = async (what: CompletedValues): Promise<void> => {
  const tooLate = setTimeout(() => process.exit(0), longestMs)
  const values = await namesOf[what]()
    .catch(() => [])
    .finally(() => clearTimeout(tooLate))
  // A server that is not ours could name a version so that the shell or the terminal does something.
  const safe = values.filter((value) => /^[\w][\w.+-]*$/.test(value))
  process.stdout.write(safe.map((value) => `${value}\n`).join(''))
}

const onServer = async <T>(work: (client: PlatformClient, call: { readonly signal: AbortSignal }) => Promise<T>) => {
  const call = { signal: AbortSignal.timeout(longestMs) }
  return await work((await openRemote({}, call)).client, call)
}

const namesOf: Readonly<Record<CompletedValues, () => Promise<readonly string[]>>> = {
  apps: async () => {
    const { asOperator } = await import('../operator-session.ts') // a completion of other words must not wait for it
    return await asOperator({}, async ([platform]) => (await listApps(platform)).map(({ slug }) => slug))
  },
  versions: async () =>
    await onServer(async ({ versions }, call) =>
      (await versions.list({ limit: 100 }, call)).data.map(({ version }) => version),
    ),
  endpoints: async () =>
    await onServer(async ({ webhooks }, call) => (await webhooks.list(call)).data.map(({ id }) => id)),
}
