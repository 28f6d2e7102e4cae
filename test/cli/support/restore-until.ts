import { restoreAt } from './restore-at.ts'

/** Restores and kills its own process at a step: `bun restore-until.ts <database> <backup> <step>`. */
const [file = '', backup = '', until = ''] = process.argv.slice(2)

await restoreAt(file, backup, (step) => {
  if (step === until) process.kill(process.pid, 'SIGKILL')
})
