import { Argument, type Command } from 'commander'
import { bashScript } from '../completion/bash-script.ts'
import { completedCommands } from '../completion/completed-command.ts'
import { fishScript } from '../completion/fish-script.ts'
import { zshScript } from '../completion/zsh-script.ts'

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
    .action((shell: Shell) => void process.stdout.write(scripts[shell](completedCommands(program))))
}
