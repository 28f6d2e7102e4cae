import type { Command } from 'commander'
import { join } from 'node:path'
import { programEnvironment } from '../../config.ts'
import type { ConfigFlags, EnvironmentVariables } from '../../config/setting.ts'
import alertRules from '../print/alert-rules.yml' with { type: 'text' }
import { containerFiles, containerSettings, containerUpstream } from '../print/container.ts'
import { type Deployment, deploymentOf } from '../print/deployment.ts'
import { caddyfile, nginxSite, type ProxyTerms, proxyTerms } from '../print/proxies.ts'
import { backupTimer, systemdUnit } from '../print/systemd.ts'

export const addPrintCommands = (program: Command): void => {
  const group = program
    .command('print')
    .description('Print configuration for systemd, containers, proxies and alerts that matches the settings.')
  printCommand(group, 'systemd', 'A hardened systemd service.', systemdUnit)
  printCommand(
    group,
    'backup-timer',
    'A systemd timer and service, and a line of cron, that back up every day.',
    backupTimer,
    { hasFiles: true },
  )
  printCommand(group, 'caddy', 'A Caddy site that terminates TLS.', async (deployment) =>
    caddyfile(await termsOf(deployment)),
  )
  printCommand(group, 'nginx', 'An nginx site that terminates TLS.', async (deployment) =>
    nginxSite(await termsOf(deployment)),
  )
  printCommand(
    group,
    'container',
    'A Containerfile, and a compose file that runs it behind Caddy.',
    async (deployment) => {
      const upstream = containerUpstream(deployment)
      return containerFiles(deployment, await termsOf({ ...deployment, upstream }))
    },
    { fixed: containerSettings, hasFiles: true },
  )
  group
    .command('alerts')
    .description('Alerting rules for Prometheus.')
    .action(() => void process.stdout.write(alertRules))
}

const printCommand = (
  group: Command,
  name: string,
  description: string,
  render: (deployment: Deployment) => string | Promise<string>,
  { fixed = {}, hasFiles = false }: { readonly fixed?: EnvironmentVariables; readonly hasFiles?: boolean } = {},
): void => {
  const command = group
    .command(name)
    .description(description)
    .option('--port <number>', 'the port that the server listens on (PORT, default 3000)')
    .option('--host <address>', 'the address that the server listens on (HOST, default 127.0.0.1)')
    .option(
      '--database <file>',
      'the database file or a postgres:// URL (DATABASE_URL, default in /var/lib/app-platform)',
    )
    .option('--public-url <origin>', 'the origin that clients see (PUBLIC_URL)')
    .addHelpText('after', '\nThe other settings are taken from the environment, as serve would take them.')
    .action(async (flags: ConfigFlags & { readonly to?: string }) => {
      const executable = Bun.isStandaloneExecutable ? process.execPath : null
      const deployment = deploymentOf(flags, { ...programEnvironment(), ...fixed }, executable)
      const text = await render(deployment)
      for (const warning of deployment.warnings) process.stderr.write(`warning: ${warning}\n`)
      process.stdout.write(flags.to === undefined ? text : await writeFiles(text, flags.to))
    })
  if (hasFiles) command.option('--to <folder>', 'write the files into this folder, and print only what to do then')
}

/** Writes the files in the text, each below a line with its name. Returns what the text says before the first one. */
const writeFiles = async (text: string, folder: string): Promise<string> => {
  const [steps = '', ...parts] = text.split(/^# ---- (.+)\n/m)
  for (let at = 0; at < parts.length; at += 2)
    await Bun.write(join(folder, parts[at] ?? ''), `${(parts[at + 1] ?? '').trimEnd()}\n`, { createPath: false })
  return `${steps.trimEnd()}\n`
}

/** Imported here, because no other command needs the server's limits. */
const termsOf = async (deployment: Deployment): Promise<ProxyTerms> => {
  const [{ largestBodyBytes, lineBodies }, { defaultDrainMs: drainMs, idleSeconds }] = await Promise.all([
    import('../../http/admission.ts'),
    import('../../http/server.ts'),
  ])
  return proxyTerms(deployment, { largestBodyBytes, largestImportBytes: lineBodies.limitBytes, idleSeconds, drainMs })
}
