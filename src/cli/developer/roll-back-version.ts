import type { PlatformClient, Rollback, RollbackRequest } from '../../client/index.ts'
import type { Environment } from '../../domain/app.ts'
import { answer, printable, UsageError } from '../output.ts'
import { askAll, hasTerminal } from '../prompt.ts'
import { openRemote } from '../remote.ts'
import { type DeveloperFlags, readStanding, type Standing, standingText, tellOfWaiting } from './developer-command.ts'

type RollbackFlags = DeveloperFlags & {
  readonly to?: string
  readonly environment: Environment
  readonly reason?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** On a terminal it shows what will change and asks. It then does just that, even if something changed meanwhile. */
export const rollBackRemotely = async (signal: AbortSignal, flags: RollbackFlags): Promise<void> => {
  const { to, environment, reason, dryRun = false } = flags
  if (reason !== undefined && reason.length > 1000) throw new UsageError('--reason has at most 1000 characters.')
  if (environment === 'production' && !dryRun && flags.yes !== true && !hasTerminal()) throw new UsageError(unconfirmed)
  const { client } = await openRemote(flags, { signal, onRepeat: tellOfWaiting })
  const asked: RollbackRequest = {
    environment,
    ...(to === undefined ? {} : { version: to }),
    ...(reason === undefined ? {} : { reason }),
  }
  if (dryRun) {
    const preview = await client.versions.rollBack({ ...asked, dryRun }, { signal })
    const text = flags.json === true ? '' : await previewText(client, preview, signal)
    return answer(flags, { value: preview, text })
  }
  const target = flags.yes !== true && hasTerminal() ? await confirmed(client, asked, signal) : asked
  if (target === null) return answer(flags, { value: { rollback: null }, text: 'Nothing was changed.' })
  const done = await client.versions.rollBack(target, { signal })
  const text = flags.json === true ? '' : doneText(done, await readStanding(client, signal))
  answer(flags, { value: done, text })
}

const unconfirmed =
  'A rollback in production changes what users get at once, and there is no terminal to ask at: add --yes, or see what would change with --dry-run.'

/** The rollback that the person agreed to, to the version they were shown; null if they said no. */
const confirmed = async (
  client: PlatformClient,
  asked: RollbackRequest,
  signal: AbortSignal,
): Promise<RollbackRequest | null> => {
  const preview = await client.versions.rollBack({ ...asked, dryRun: true }, { signal })
  process.stderr.write(`${await previewText(client, preview, signal)}\n`)
  const [said = ''] = await askAll([{ text: 'Roll back? [y/N] ' }], signal)
  if (!/^y(es)?$/i.test(said)) return null
  const { version: _, ...rest } = asked
  return { ...rest, versionId: preview.rollback.toVersionId }
}

const previewText = async (client: PlatformClient, preview: Rollback, signal: AbortSignal): Promise<string> => {
  const { development, production } = await readStanding(client, signal)
  const { environment } = preview.rollback
  const { version } = preview.version
  const head = `The development head: ${development?.version ?? 'none'}`
  const live = `What users see: ${production?.version ?? 'none'}`
  const lines =
    environment === 'development'
      ? [`${head} -> ${version}`, `${live}, as before`]
      : [`${head}, as before`, `${live} -> ${version}`]
  return lines.map(printable).join('\n')
}

const doneText = ({ rollback, version }: Rollback, standing: Standing): string =>
  printable(`Rolled back to ${version.version} in ${rollback.environment} (${rollback.id}). ${standingText(standing)}`)
