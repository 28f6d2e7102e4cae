import { namesForFile } from '../backup-folder.ts'
import type { BackupMaker } from '../backups.ts'
import { DatabaseUnusable } from '../database.ts'
import type { BackupOrder, BackupReport } from './backup-worker.ts'
import { startThread } from './thread.ts'

/**
 * Backups of a file that a server of this process has open. A thread does the work: a copy of 670 MB took 10 s, and meanwhile the
 * server answered in 5 ms instead of 1 ms. `close` ends the work; what an ended copy leaves behind is removed by the next one.
 */
export const fileBackups = (file: string): BackupMaker & { readonly close: () => void } => {
  let worker: Worker | null = null
  const order = async (given: BackupOrder) =>
    await inThread(given, (began) => (worker = began)).finally(() => (worker = null))
  return {
    names: namesForFile(file),
    make: async (to) => await order({ kind: 'back_up', file, to }),
    check: async (backup) => await order({ kind: 'check', file: backup, as: 'backup' }),
    close: () => worker?.terminate(),
  }
}

/** What a thread has found; `began` gets it, so that it can be ended. */
const inThread = async (order: BackupOrder, began: (worker: Worker) => void): Promise<readonly string[]> => {
  const worker = startThread('backup-worker.ts')
  worker.unref()
  began(worker)
  const { promise, resolve } = Promise.withResolvers<BackupReport>()
  worker.addEventListener('message', ({ data }: MessageEvent<BackupReport>) => resolve(data))
  worker.addEventListener('error', ({ message }) => resolve({ kind: 'broke', message }))
  worker.postMessage(order, [])
  const report = await promise
  worker.terminate()
  if (report.kind === 'checked') return report.problems
  throw report.kind === 'refused' ? new DatabaseUnusable('busy', report.message) : new Error(report.message)
}

/** Everything that is wrong with the file of a running server, in plain sentences. */
export const checkInThread = async (file: string): Promise<readonly string[]> =>
  await inThread({ kind: 'check', file, as: 'database' }, () => undefined)
