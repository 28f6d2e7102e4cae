import type { Command } from 'commander'
import { join } from 'node:path'
import { programEnvironment } from '../../config.ts'
import type { ConfigFlags, EnvironmentVariables } from '../../config/setting.ts'
import alertRules from '../print/alert-rules.yml' with { type: 'text' }
import { containerFiles, containerSettings, containerUpstream } from '../print/container.ts'
import { type Deployment, deploymentOf, fill, reachable } from '../print/deployment.ts'
import { caddySite, nginxSite, type ProxyTerms, proxyTerms } from '../print/proxies.ts'
import { backupTimer, systemdUnit, unseenFiles } from '../print/systemd.ts'

export const addPrintCommands = (program: Command): void => {
  const group = program
    .command('print')
    .description('Print configuration for systemd, containers, proxies and alerts that matches the settings.')
  printCommand(group, 'systemd', 'A hardened systemd service.', systemdUnit, {
    uses: ['PORT', 'HOST', 'DATABASE_URL', 'PUBLIC_URL', 'TRUSTED_PROXIES'],
    hasAllSettings: true,
    warnsOf: unseenFiles,
  })
  printCommand(
    group,
    'backup-timer',
    'A systemd timer and service, and a line of cron, that back up every day.',
    backupTimer,
    { uses: ['DATABASE_URL'], hasFiles: true, warnsOf: unseenFiles },
  )
  const ofProxies = ['PORT', 'HOST', 'PUBLIC_URL', 'TRUSTED_PROXIES']
  printCommand(
    group,
    'caddy',
    'A Caddy site that terminates TLS.',
    async (deployment) => caddySite(await termsOf(deployment)),
    { uses: ofProxies },
  )
  printCommand(
    group,
    'nginx',
    'An nginx site that terminates TLS.',
    async (deployment) => nginxSite(await termsOf(deployment)),
    { uses: ofProxies },
  )
  printCommand(
    group,
    'container',
    'A Containerfile, and a compose file that runs it behind Caddy.',
    async (deployment) => {
      const upstream = containerUpstream(deployment)
      return containerFiles(deployment, await termsOf({ ...deployment, upstream }))
    },
    { uses: ['PORT', 'DATABASE_URL', 'PUBLIC_URL'], fixed: containerSettings, hasFiles: true, hasAllSettings: true },
  )
  printCommand(group, 'alerts', 'Alerting rules for Prometheus.', alerts, { uses: ['METRICS_LISTEN', 'PORT', 'HOST'] })
}

/** The rules need no setting. The target of the scrape in their head does. */
const alerts = ({ metricsListen, upstream }: Deployment): string =>
  fill(alertRules, { target: metricsListen === null ? upstream : reachable(metricsListen) })

const flagTexts: Readonly<Record<string, readonly [flag: string, text: string]>> = {
  PORT: ['--port <number>', 'the port that the server listens on (PORT, default 3000)'],
  HOST: ['--host <address>', 'the address that the server listens on (HOST, default 127.0.0.1)'],
  DATABASE_URL: [
    '--database <file>',
    'the database file or a postgres:// URL (DATABASE_URL, default in /var/lib/app-platform)',
  ],
  PUBLIC_URL: ['--public-url <origin>', 'the origin that clients see (PUBLIC_URL)'],
}

type PrintOptions = {
  /** The settings that shape the text: they must be right, and have their flags here. */
  readonly uses: readonly string[]
  /** Whether the text passes on all other settings as they were typed, so that their faults matter later. */
  readonly hasAllSettings?: boolean
  readonly fixed?: EnvironmentVariables
  readonly hasFiles?: boolean
  readonly warnsOf?: (deployment: Deployment) => readonly string[]
}

const printCommand = (
  group: Command,
  name: string,
  description: string,
  render: (deployment: Deployment) => string | Promise<string>,
  { uses, hasAllSettings = false, fixed = {}, hasFiles = false, warnsOf = () => [] }: PrintOptions,
): void => {
  const command = group.command(name).description(description)
  for (const [flag, text] of uses.flatMap((setting) => (flagTexts[setting] === undefined ? [] : [flagTexts[setting]])))
    command.option(flag, text)
  command
    .addHelpText('after', `\nTaken from the environment: ${hasAllSettings ? 'all settings' : uses.join(', ')}.`)
    .action(async (flags: ConfigFlags & { readonly to?: string }) => {
      const executable = Bun.isStandaloneExecutable ? process.execPath : null
      const deployment = deploymentOf(flags, { ...programEnvironment(), ...fixed }, { executable, needed: uses })
      const text = await render(deployment)
      const isOfText = (doubt: string) =>
        hasAllSettings || (uses.includes('PUBLIC_URL') && uses.some((setting) => doubt.startsWith(setting)))
      const doubts = [...deployment.doubts.filter(isOfText), ...warnsOf(deployment)]
      for (const doubt of doubts) process.stderr.write(`warning: ${doubt}\n`)
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
