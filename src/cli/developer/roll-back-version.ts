import type { PlatformClient, Rollback, RollbackRequest } from '../../client/index.ts'
import type { Environment } from '../../domain/app.ts'
import { answer, printable, UsageError } from '../output.ts'
import { askAll, hasTerminal } from '../prompt.ts'
import { openRemote } from '../remote.ts'
import {
  changing,
  type DeveloperFlags,
  readStanding,
  type Standing,
  standingText,
  tellOfWaiting,
} from './developer-command.ts'

type RollbackFlags = DeveloperFlags & {
  readonly to?: string
  readonly environment: Environment
  readonly reason?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/**
 * On a terminal it shows what will change and asks. It then does just that, even if something changed meanwhile. It always names the
 * version: to go back once more, after an answer was lost, would be another rollback.
 */
export const rollBackRemotely = async (signal: AbortSignal, flags: RollbackFlags): Promise<void> => {
  const { to, environment, reason, dryRun = false } = flags
  if (reason !== undefined && reason.length > 1000) throw new UsageError('--reason has at most 1000 characters.')
  if (environment === 'production' && !dryRun && flags.yes !== true && !hasTerminal()) throw new UsageError(unconfirmed)
  const { client, url } = await openRemote(flags, { signal, onRepeat: tellOfWaiting })
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
  const preview = await client.versions.rollBack({ ...asked, dryRun: true }, { signal })
  if (flags.yes !== true && hasTerminal() && !(await isAgreed(client, url, preview, signal)))
    return answer(flags, { value: { rollback: null }, text: 'Nothing was changed.' })
  const { version } = preview.version
  const doubt =
    `It is not known whether the rollback to ${version} in ${environment} was made: see app-platform versions list. ` +
    `To go back to that version and no further, run app-platform versions rollback --environment ${environment} --to ${version}.`
  const { version: _, ...rest } = asked
  const target = { ...rest, versionId: preview.rollback.toVersionId }
  const done = await changing(signal, doubt, async () => await client.versions.rollBack(target, { signal }))
  const text = flags.json === true ? '' : doneText(done, await readStanding(client, signal))
  answer(flags, { value: done, text })
}

const unconfirmed =
  'A rollback in production changes what users get at once, and there is no terminal to ask at: add --yes, or see what would change with --dry-run.'

/** Shows a person what will change. Whether they agree. */
const isAgreed = async (
  client: PlatformClient,
  url: string,
  preview: Rollback,
  signal: AbortSignal,
): Promise<boolean> => {
  const { name, slug } = await client.me({ signal })
  process.stderr.write(`${printable(`${name} (${slug}) at ${url}`)}\n`)
  process.stderr.write(`${await previewText(client, preview, signal)}\n`)
  const [said = ''] = await askAll([{ text: 'Roll back? [y/N] ' }], signal)
  return /^y(es)?$/i.test(said)
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
