import type { Command } from 'commander'
import { migrations } from '../../../db/migrations/index.ts'
import { resetClock } from '../../../db/reset-clock.ts'
import { readConfig } from '../../config.ts'
import { type CommonFlags, operatorCommand, operatorEvents } from '../operator-command.ts'
import { answer, wireRecord } from '../output.ts'

const consequences = `
For a machine whose clock was once ahead: the time that was trusted then is kept, so that setting a clock back revives
nothing, and /readyz fails. Set the machine's clock right first, and stop the server.

Every token, code, grant and session ends: people sign in and consent again, apps ask for new tokens. Times that lie in
the future become now, so the grace of rotated secrets ends as well. The audit keeps its order.`

export const addClockCommands = (program: Command): void => {
  const group = program.command('clock').description('The time that the database trusts.')
  operatorCommand(group, 'reset', 'Take the trusted time back to the clock of the machine, and end everything issued.')
    .addHelpText('after', consequences)
    .action(reset)
}

const reset = async (flags: CommonFlags): Promise<void> => {
  const { databasePath } = readConfig({ database: flags.database })
  const { at, ...facts } = await resetClock({
    file: databasePath,
    migrations,
    now: Date.now(),
    event: operatorEvents(),
  })
  const { aheadSeconds, ended, clamped } = facts
  const text =
    `The time was ${aheadSeconds} s ahead and is right now. Ended: app tokens ${ended.appTokens}, grants ${ended.grants}, ` +
    `sessions ${ended.sessions}, embedded sessions ${ended.embeddedSessions}. Times taken back: ${clamped}.`
  answer(flags, { ...wireRecord({ resetAt: at }), ...facts }, text)
}
