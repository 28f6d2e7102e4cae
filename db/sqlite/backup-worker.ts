import { parentPort } from 'node:worker_threads'
import { backupFile } from '../backup.ts'
import { unusable } from '../backups.ts'
import { checkFile } from '../check.ts'
import { DatabaseUnusable } from '../database.ts'
import { migrations } from '../migrations/index.ts'

export type BackupOrder =
  | { readonly kind: 'back_up'; readonly file: string; readonly to: string }
  | { readonly kind: 'check'; readonly file: string; readonly as: 'backup' | 'database' }

/** `refused` has a sentence for the operator, `broke` what was thrown otherwise. */
export type BackupReport =
  | { readonly kind: 'checked'; readonly problems: readonly string[] }
  | { readonly kind: 'refused' | 'broke'; readonly message: string }

// The worker that copies and checks, which reads every page and would stop the server for seconds. It has connections of its
// own; all connections of a process share its locks.

const obey = (order: BackupOrder): BackupReport => {
  if (order.kind === 'back_up') backupFile({ ...order, replace: false, migrations })
  const problems =
    order.kind === 'back_up' ? checkFile(order.to, migrations, 'backup') : checkFile(order.file, migrations, order.as)
  return { kind: 'checked', problems }
}

const report = (order: BackupOrder): BackupReport => {
  try {
    return obey(order)
  } catch (error) {
    const refused =
      error instanceof DatabaseUnusable ? error : order.kind === 'back_up' ? unusable(error, order.to) : null
    if (refused !== null) return { kind: 'refused', message: refused.message }
    return { kind: 'broke', message: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', (order: BackupOrder) => parentPort?.postMessage(report(order), []))
