import type { Command } from 'commander'
import { createManagementClient } from '../client/index.ts'
import { ConfigError, programEnvironment } from '../config.ts'
import { Broken, type EnvironmentVariables, settingReader } from '../config/setting.ts'
import { changing, interruptible, tellOfWaiting } from './developer/developer-command.ts'
import { readOrigin } from './developer/settings.ts'
import { CommandFailed, printableLines, terminalWidth } from './output.ts'

const keyName = 'APP_PLATFORM_SERVICE_KEY'

/** A check of a large database takes minutes. */
const patienceMs = 900_000

/** Runs a command on a server, and ends as it has ended there. @throws ConfigError, CommandFailed, AppPlatformError */
export const runOnServer = async (
  command: Command,
  words: readonly string[],
  url: string,
  { insecureHttp = false, isChange }: { readonly insecureHttp?: boolean; readonly isChange: boolean },
): Promise<void> => {
  const target = readTarget(url, insecureHttp, programEnvironment())
  const client = createManagementClient({ ...target, insecureHttp, timeoutMs: patienceMs, onRepeat: tellOfWaiting })
  const asked = { arguments: [...sentWords(command, words)], width: terminalWidth() }
  await interruptible(async (signal) => {
    const run = async () => await client.commands.run(asked, { signal })
    const { exitCode, stdout, stderr } = await (isChange ? changing(signal, doubt, run) : run())
    if (typeof stdout !== 'string' || typeof stderr !== 'string' || ![0, 1, 2].includes(exitCode))
      throw new CommandFailed([
        'The server gave no answer of a command: use an app-platform program of the same release.',
      ])
    process.stderr.write(printableLines(stderr))
    process.stdout.write(printableLines(stdout))
    process.exitCode = exitCode
  })
}

const doubt =
  'It is not known whether the server has run the command: look at what it changes, or at app-platform audit list, before you run it again.'

const readTarget = (typed: string, insecureHttp: boolean, env: EnvironmentVariables) => {
  const faults: string[] = []
  const url = readOrigin('--url', typed, insecureHttp, faults)
  const serviceKey = settingReader(
    {},
    env,
    faults,
    [],
    [keyName],
  )<string | null>(keyName, null, (text) =>
    /^apok_[0-9A-Za-z]+$/.test(text.trim())
      ? text.trim()
      : new Broken('must be a service key, which begins with apok_.'),
  )
  if (serviceKey === null && faults.length === 0)
    faults.push(`--url needs a service key in ${keyName}, or in a file that ${keyName}_FILE names.`)
  if (url === null || serviceKey === null || faults.length > 0) throw new ConfigError(faults)
  return { url, serviceKey }
}

/** The flags that say where a command runs. */
const ofPlace = new Set(['--url', '--insecure-http'])

/** The words that were typed, without those that say where the command runs. Commander reads them in the same way. */
const sentWords = ({ options }: Command, words: readonly string[]): readonly string[] => {
  const sent: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word === '--') return [...sent, ...words.slice(at)]
    const name = word.split('=')[0] ?? ''
    const takesNext = !word.includes('=') && options.find(({ long }) => long === name)?.required === true
    if (!ofPlace.has(name)) sent.push(...words.slice(at, takesNext ? at + 2 : at + 1))
    if (takesNext) at += 1
  }
  return sent
}
