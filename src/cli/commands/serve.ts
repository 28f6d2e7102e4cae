import type { Command } from 'commander'
import { lookup } from 'node:dns/promises'
import { relative } from 'node:path'
import { faultAt } from '../../../db/engine.ts'
import { type Config, defaultDatabasePath, readConfig } from '../../config.ts'
import type { ConfigFlags } from '../../config/setting.ts'
import { hasAccounts } from '../../operations/users/find-user.ts'
import { actAsOwnerOfFolder } from '../../runtime/identity.ts'
import type { PlatformServer } from '../../server.ts'
import { placed } from '../operator-command.ts'
import { CommandFailed } from '../output.ts'

/** Adds a command that runs a server, with the flags of its settings. */
export const serverCommand = (program: Command, name: string, description: string, database: string): Command =>
  program
    .command(name)
    .description(description)
    .option('--port <number>', 'port to listen on; 0 takes a free one (PORT, default 3000)')
    .option('--host <address>', 'address to listen on (HOST, default 127.0.0.1)')
    .option('--database <file>', database)
    .option('--public-url <origin>', 'the origin that clients see (PUBLIC_URL, default http://localhost:<port>)')

/**
 * Listens at once, so that a signal during or just after the start ends the server too. And it goes on listening: Ctrl-C below `npx` or
 * a script of package.json signals twice, and the second one must not kill a server that drains.
 */
export const signalToEnd = (): Promise<void> =>
  new Promise((resolve) => {
    process.on('SIGTERM', () => resolve())
    process.on('SIGINT', () => resolve())
  })

/**
 * SIGHUP, which would end the program otherwise. One that comes before anything is to be done about it is kept until then. So is the one
 * of a terminal that goes away.
 */
const signalToReload = () => {
  let reload: (() => void) | null = null
  let hasCome = false
  process.on('SIGHUP', () => {
    hasCome = true
    reload?.()
  })
  return (act: () => void): void => {
    reload = act
    if (hasCome) act()
  }
}

/** How long a server whose store has failed answers 503 before it exits, for the supervisor to restart it. */
const lastAnswersMs = 3_000

/** Runs a server. A fault of its database is told as every command tells it. */
export const atDatabase = async ({ database }: Config, run: () => Promise<void>): Promise<void> =>
  await run().catch((error: unknown) => {
    throw faultAt(database, error)
  })

/**
 * Takes the first steps, runs until the signal, then drains. The exit code is 1 if the disk was full. A server whose first steps
 * or whose store have failed ends by itself; see `StoreFault`.
 */
export const serveUntil = async (
  signal: Promise<void>,
  server: PlatformServer,
  firstSteps: () => Promise<void>,
): Promise<void> => {
  await firstSteps().catch(async (error: unknown) => {
    await server.stop()
    throw error
  })
  const failed = server.faulted.then(async () => {
    await Bun.sleep(lastAnswersMs)
    return false
  })
  const drained = signal.then(async () => await server.stop())
  const healthy = await Promise.race([drained, failed])
  process.exit(healthy ? 0 : 1)
}

/** The address of the metrics, if they have their own port. */
export const metricsText = ({ metricsUrl }: PlatformServer): string =>
  metricsUrl === null ? '' : `Metrics are at ${metricsUrl}\n`

/** Where clients reach it and, if different, where it listens. */
const addressText = ({ url, publicUrl }: PlatformServer): string => {
  const isSame = publicUrl === url || publicUrl === url.replace('127.0.0.1', 'localhost')
  return `App Platform is at ${publicUrl}${isSame ? '' : ` and listens on ${url}`}`
}

/** The command that makes the first account of this server. The URL of a PostgreSQL database may have a password. */
const firstAccountText = ({ database, publicUrl }: Config, server: PlatformServer): string => {
  const isDefault = database.kind === 'sqlite' && database.path === defaultDatabasePath
  const address = publicUrl === null && server.url.endsWith(':3000') ? '' : `PUBLIC_URL=${server.publicUrl} `
  const file = isDefault || database.kind === 'postgres' ? '' : ` --database ${Bun.$.escape(database.path)}`
  const same = database.kind === 'postgres' ? ' with the same DATABASE_URL' : ''
  return `Nobody has an account yet. This makes the first one${same}, and prints a link to set its password:
  ${address}${programWords()} user invite you@example.com --name "Your Name" --operator${file}
`
}

/** How this program is called from the current folder. Without Bun on the path, npx has put it into a folder of its own. */
const programWords = (): string => {
  const { execPath } = process
  if (Bun.isStandaloneExecutable)
    return Bun.which('app-platform') === execPath ? 'app-platform' : Bun.$.escape(execPath)
  const bun = execPath.includes('/_npx/') ? `npx -y --allow-scripts=bun bun@${Bun.version}` : 'bun'
  return `${bun} ${Bun.$.escape(relative('.', Bun.main))}`
}

const isOfListening = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'listen'

/** Asked after a failure, because the code that Bun gives for an unknown name may be that of an earlier failure. */
const isKnown = async (host: string): Promise<boolean> => {
  try {
    await lookup(host)
    return true
  } catch {
    return false
  }
}

export const addServeCommand = (program: Command): void => {
  serverCommand(
    program,
    'serve',
    'Migrate the database, then serve until SIGTERM or SIGINT. SIGHUP reads the settings in files again.',
    'the database file or a postgres:// URL (DATABASE_URL, default file:./data/app-platform.db)',
  )
    .option('--json', 'print {"url":…} as the first line on stdout')
    .action(async function (this: Command, flags: ConfigFlags & { readonly json?: boolean }) {
      const signal = signalToEnd()
      const onReload = signalToReload()
      const rereadConfig = () => readConfig(flags)
      const config = rereadConfig()
      if (config.database.kind === 'sqlite') actAsOwnerOfFolder(config.database.path) // as every command on the file
      const createCommands = placed(this).root?.create ?? null
      await atDatabase(config, async () => {
        const { startPlatformServer, StoppedWaiting } = await import('../../server.ts') // imported here, because no other command needs it
        const server = await startPlatformServer(config, { ended: signal, createCommands, rereadConfig }).catch(
          async (error: unknown) => {
            if (error instanceof StoppedWaiting) process.exit(0)
            if (isOfListening(error) && !(await isKnown(config.host))) {
              throw new CommandFailed([`HOST is ${config.host}, and this machine finds no address for that name.`])
            }
            throw error
          },
        )
        onReload(server.readSettingsAgain)
        const { url, metricsUrl } = server
        const json = JSON.stringify(metricsUrl === null ? { url } : { url, metricsUrl })
        process.stdout.write(flags.json === true ? `${json}\n` : `${addressText(server)}\n${metricsText(server)}`)
        await serveUntil(signal, server, async () => {
          if (flags.json === true || (await hasAccounts(server.platform))) return
          process.stdout.write(firstAccountText(config, server))
        })
      })
    })
}
