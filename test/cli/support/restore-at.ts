import { migrations } from '../../../db/migrations/index.ts'
import { type Restored, type RestoreStep, restoreSqlite } from '../../../db/restore.ts'
import { auditEvent } from '../../../src/operations/audit/event.ts'
import { operator, trace } from '../../support/operator.ts'

/** A restore in this process, watched step by step. */
export const restoreAt = async (
  file: string,
  backup: string,
  progress: (step: RestoreStep) => void,
): Promise<Restored> =>
  await restoreSqlite({
    file,
    backup,
    migrations,
    now: Date.now(),
    event: (at, facts) =>
      auditEvent(
        { id: `aud_${'0'.repeat(32)}`, at, ...trace },
        { actor: operator, action: 'database.restored', detail: facts },
      ),
    progress,
  })
