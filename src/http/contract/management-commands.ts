/** Commands of operators over the network, in the management API. */
import { Type } from '@sinclair/typebox'
import { model, text } from './fields.ts'

/** A line of a shell has few words. */
const mostWords = 100

export const commandRequest = model('CommandRequest', 'A command line, without the name of the program.', {
  arguments: Type.Array(text('A word, with nothing quoted.', 'suspend', { maxLength: 16_384 }), {
    minItems: 1,
    maxItems: mostWords,
    description: 'The words as the program gets them, such as app, suspend, newsletter and --json.',
  }),
  width: Type.Optional(
    Type.Union([Type.Integer({ minimum: 20, maximum: 1_000 }), Type.Null()], {
      description: 'Columns of the terminal that shows tables; null or missing: each row is one line.',
    }),
  ),
})

export const commandResult = model('CommandResult', 'What the command printed, and how it ended.', {
  exitCode: Type.Union([Type.Literal(0), Type.Literal(1), Type.Literal(2)], {
    description: '0: done. 1: refused or failed. 2: called wrongly.',
    examples: [0],
  }),
  stdout: text('Its answer; with --json one JSON value, also for a failure.', 'slug  newsletter'),
  stderr: text('Warnings, and why it failed.', ''),
})
