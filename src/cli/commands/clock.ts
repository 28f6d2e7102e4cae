import type { Command } from 'commander'
import { resetClock } from '../../../db/reset-clock.ts'
import type { StoppedOptions } from '../../../db/stopped.ts'
import { stoppedCommand } from '../operator-command.ts'
import { endedText, wireRecord } from '../output.ts'

const consequences = `
For a machine whose clock was once ahead: the time that was trusted then is kept, so that setting a clock back revives
nothing, and /readyz fails. Set the machine's clock right first, and stop the server.

Every token, code, grant and session ends: people sign in and consent again, apps ask for new tokens. Times that lie in
the future become now, so the grace of rotated secrets ends as well. The audit keeps its order.`

export const addClockCommands = (program: Command): void => {
  const group = program.command('clock').description('The time that the database trusts.')
  stoppedCommand(
    group,
    'reset',
    'Take the trusted time back to the clock of the machine, and end everything issued.',
    reset,
  ).addHelpText('after', consequences)
}

const reset = async (stopped: StoppedOptions) => {
  const { at, ...facts } = await resetClock(stopped)
  return {
    value: { ...wireRecord({ resetAt: at }), ...facts },
    text:
      `The time was ${facts.aheadSeconds} s ahead and is correct now. Ended: ${endedText(facts.ended)}. ` +
      `Times taken back: ${facts.clamped}.`,
  }
}
