import { migrations } from '../../../db/migrations/index.ts'
import { type Restored, type RestoreStep, restoreSqlite } from '../../../db/restore.ts'
import { recordId } from '../../../src/domain/identifier.ts'
import { auditEvent } from '../../../src/operations/audit/event.ts'
import { createRandom } from '../../../src/runtime/random.ts'
import { operator, trace } from '../../support/operator.ts'

/** Restores in this process and calls back at each step. */
export const restoreAt = async (
  file: string,
  backup: string,
  progress: (step: RestoreStep) => void = () => undefined,
): Promise<Restored> =>
  await restoreSqlite({
    file,
    backup,
    migrations,
    now: Date.now(),
    event: ({ at, idAt }, facts) =>
      auditEvent({ id: recordId('aud_', createRandom().uuid(idAt)), at, ...trace }, { actor: operator, ...facts }),
    progress,
  })
