import { migrations } from '../../../db/migrations/index.ts'
import { restoreSqlite } from '../../../db/restore.ts'

/** A restore whose process is killed as it comes to a step: `bun restore-until.ts <database> <backup> <step>`. */
const [file = '', backup = '', until = ''] = process.argv.slice(2)

await restoreSqlite({
  file,
  backup,
  migrations,
  now: Date.now(),
  event: (at, facts) => ({
    id: `aud_${'0'.repeat(32)}`,
    at,
    actorKind: 'operator',
    actorId: 'test',
    appId: null,
    environment: null,
    action: 'database.restored',
    target: null,
    outcome: 'done',
    reason: null,
    detail: JSON.stringify(facts),
    requestId: `req_${'0'.repeat(32)}`,
    address: 'local',
  }),
  progress: (step) => {
    if (step === until) process.kill(process.pid, 'SIGKILL')
  },
})
