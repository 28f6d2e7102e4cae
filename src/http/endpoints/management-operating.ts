import { wireRecord } from '../../domain/timestamp.ts'
import { wholeNumberFrom } from '../wire.ts'
import { refuse } from '../../domain/errors.ts'
import { readAudit } from '../../operations/audit/read-audit.ts'
import * as contract from '../contract/management.ts'
import { jsonBody, queryOf } from '../endpoint.ts'
import { managed } from '../management.ts'

const mostEvents = 1_000
const usualEvents = 100

/** @throws invalid_request for a text that is no whole number within the bounds */
const wholeNumberOf = (
  param: string,
  text: string | undefined,
  otherwise: number,
  least: number,
  most: number,
): number => {
  if (text === undefined) return otherwise
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  const bounds = { minimum: least, maximum: most }
  throw refuse('invalid_request', { param, message: wholeNumberFrom(bounds), details: bounds })
}

export const exportAudit = managed({
  method: 'GET',
  path: '/audit',
  right: 'audit:read',
  query: queryOf(contract.auditQuery),
  answers: { 200: contract.auditEventList },
  id: 'readAudit',
  summary: 'Read the audit log from a position on',
  description:
    'Ask again with `next` as `after`: no event is missed and none comes twice, also with several servers. Issued tokens are not in it.',
  run: async (door, _, { query }) => {
    const after = wholeNumberOf('after', query.after, 0, 0, Number.MAX_SAFE_INTEGER)
    const limit = wholeNumberOf('limit', query.limit, usualEvents, 1, mostEvents)
    const { data, next } = await readAudit(door.platform, after, limit)
    return { data: data.map(wireRecord), next }
  },
})

export const runOneCommand = managed({
  method: 'POST',
  path: '/commands',
  right: 'operate',
  body: jsonBody(contract.commandRequest),
  answers: { 200: contract.commandResult },
  errors: ['operator_protected'],
  id: 'runCommand',
  summary: 'Run a command of operators',
  description:
    'What the command line does with --url: one of the commands that the guide to remote commands lists, with the same output and exit code as on the machine of the server. Unlike the other calls it must not be repeated after a lost answer: look first whether it was done.',
  run: async (door, call, { actor, body }) =>
    await door.runCommand([door.platform, call, actor], body.arguments, body.width ?? null),
})
