import type { Command } from 'commander'
import { wireRecord } from '../../domain/timestamp.ts'
import { resetDatabaseClock } from '../../../db/engine.ts'
import { type CommonFlags, databaseCommand, databaseOf, nameOfPlace } from '../operator-command.ts'
import { operatorMoment } from '../operator-session.ts'
import { answer, endedText } from '../output.ts'

const consequences = `
For a machine whose clock was once ahead: the time that was trusted then is kept, so that setting a clock back revives
nothing, and /readyz fails. Set the machine's clock right first, and stop the server. On PostgreSQL its clock decides.

Every token, code, grant and session ends: people sign in and consent again, apps ask for new tokens. Times that lie in
the future become now, so the grace of rotated secrets ends as well. The audit keeps its order.`

export const addClockCommands = (program: Command): void => {
  const group = program.command('clock').description('The time that the database trusts.')
  databaseCommand(group, 'reset', 'Set the trusted time back to the clock of the machine, and end everything issued.')
    .addHelpText('after', consequences)
    .action(reset)
}

const reset = async (flags: CommonFlags): Promise<void> => {
  const place = databaseOf(flags)
  const { at, ...facts } = await resetDatabaseClock(place, operatorMoment())
  answer(flags, {
    value: { ...wireRecord({ resetAt: at }), database: nameOfPlace(place), ...facts },
    text:
      `The trusted time was ${facts.aheadSeconds} s ahead, and is correct now. Ended: ${endedText(facts.ended)}. ` +
      `Times taken back: ${facts.clamped}.`,
  })
}
