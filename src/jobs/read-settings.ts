import { system } from '../operations/audit/event.ts'
import { decide } from '../operations/decide.ts'
import { localTrace, type Platform } from '../operations/platform.ts'
import type { Log } from '../runtime/log.ts'
import { machineName } from '../runtime/program.ts'

/** The settings whose values have changed and are used from now on, or in a sentence why all stay as they were. */
export type Reread = { readonly changed: readonly string[] } | { readonly refused: string }

/** How long a store that takes no writes is left alone. */
const retryMs = 1_000

/**
 * Reads the settings in files again when the server is told to, one reading after the other: who asks during one gets one more after it.
 * What has changed is used at once, also while the store takes no writes, because it may be the remedy; its audit event follows
 * as soon as the store takes it. No reading ends the server, whatever it finds.
 */
export const createSettingsReader = (platform: Platform, log: Log, read: () => Promise<Reread>) => {
  const unrecorded = new Set<string>()
  const stopping = new AbortController()
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()))
  let reading: Promise<void> | null = null
  let isAskedAgain = false
  let recording: Promise<void> | null = null

  const record = async (): Promise<void> => {
    let hasFailed = false
    while (unrecorded.size > 0 && !stopping.signal.aborted) {
      const settings = [...unrecorded]
      try {
        await decide(platform, localTrace(platform), { actor: system }, async ({ record: write }) => {
          await write({ action: 'settings.changed', detail: { server: machineName(), settings } })
        })
        for (const name of settings) unrecorded.delete(name)
      } catch (cause) {
        if (!hasFailed) log.error('job.failed', { job: 'record-settings', cause })
        hasFailed = true
        await Promise.race([Bun.sleep(retryMs), stopped])
      }
    }
  }

  const readOnce = async (): Promise<void> => {
    const found = await read().catch((cause: unknown) => {
      log.error('settings.refused', { reason: `${unchanged} The cause says why.`, cause })
      return null
    })
    if (found === null) return
    if ('refused' in found) return log.error('settings.refused', { reason: `${unchanged} ${found.refused}` })
    if (found.changed.length === 0) return log.info('settings.unchanged', { reason: sameSentence })
    log.info('settings.changed', { reason: `Read again, and used from now on: ${found.changed.join(', ')}.` })
    for (const name of found.changed) unrecorded.add(name)
    recording ??= record().finally(() => void (recording = null))
  }

  const readAll = async (): Promise<void> => {
    do {
      isAskedAgain = false
      await readOnce()
    } while (isAskedAgain && !stopping.signal.aborted)
  }

  return {
    readAgain: (): void => {
      if (stopping.signal.aborted) return
      if (reading === null) reading = readAll().finally(() => void (reading = null))
      else isAskedAgain = true
    },
    /** Waits for what is under way, and begins nothing more. */
    stop: async (): Promise<void> => {
      stopping.abort()
      await reading
      await recording
    },
  }
}

const unchanged =
  'The settings were not read again, and all of them stay as they were: correct this, and run systemctl reload app-platform.'
const sameSentence =
  'The settings in files were read again, and none has another value. What is set in another way needs a restart.'
