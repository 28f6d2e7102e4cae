import { commandRequest, commandResult } from '../contract/management-commands.ts'
import { jsonBody } from '../endpoint.ts'
import { managed } from '../management.ts'

export const runOneCommand = managed({
  method: 'POST',
  path: '/commands',
  right: 'operate',
  body: jsonBody(commandRequest),
  answers: { 200: commandResult },
  errors: ['operator_protected'],
  id: 'runCommand',
  summary: 'Run a command of operators',
  description:
    'What the command line does with --url: one of the commands that the guide to remote commands lists, with the same output and exit code as on the machine of the server. Unlike the other calls it must not be repeated after a lost answer: look first whether it was done.',
  run: async (door, call, { actor, body }) =>
    await door.runCommand([door.platform, call, actor], body.arguments, body.width ?? null),
})
