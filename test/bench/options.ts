import { parseArgs } from 'node:util'

/** In this order: a refresh ends the access token that GET /resources and introspection use. */
export const caseNames = ['me', 'check', 'resources', 'installs', 'introspect', 'token', 'exchange', 'refresh'] as const
export type CaseName = (typeof caseNames)[number]
/** Other calls during large uploads, compared with the same calls without them. */
const uploadName = 'upload'
export const phaseNames = ['start', 'small', 'bare', 'nginx', 'caddy', 'large', 'slow-disk'] as const
export type PhaseName = (typeof phaseNames)[number]

export type Options = {
  readonly cases: readonly CaseName[]
  readonly upload: boolean
  readonly phases: readonly PhaseName[]
  /** The git revision to compare with, interleaved in the same run; null: none. */
  readonly against: string | null
  /** The URL of an empty PostgreSQL database to compare SQLite with; `postgres`: of a temporary server, also for a revision; null: none. */
  readonly database: string | null
  /** Length of a round. */
  readonly seconds: number
  /** Counted rounds of each server; the servers take turns. */
  readonly rounds: number
  /** Live tokens of each kind in the large file. */
  readonly many: number
  readonly json: boolean
}

export const usage = `bun run bench [--quick] [--only NAME,…] [--at PHASE,…] [--against REV] [--database URL] [--seconds N] [--rounds N] [--json]

  --quick     about a minute: one short round each, and 50,000 tokens instead of a million
  --only      of ${[...caseNames, uploadName].join(', ')}
  --at        of ${phaseNames.join(', ')}
  --against   a git revision: measures it and the working tree in turn, and nothing else (15 rounds of 2 s)
  --database  postgres://… (an empty database) or postgres (a temporary server): measures the program on it and on SQLite in turn,
              and nothing else; with --against only postgres, and both are measured on it
  --seconds   length of a round (3)
  --rounds    counted rounds per server (5); before them, it warms up until two rounds agree within 3 %
  --json      the result as JSON on standard output, the progress on standard error`

/** @throws Error with a sentence about the flag at fault */
export const readOptions = (argv: readonly string[]): Options | null => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      at: { type: 'string' },
      against: { type: 'string' },
      database: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return null
  const against = values.against ?? null
  if (against !== null && (values.database ?? 'postgres') !== 'postgres')
    throw new Error('With --against, --database takes only postgres: each side gets a database of its own.')
  const only = chosen('--only', values.only, [...caseNames, uploadName])
  return {
    cases: caseNames.filter((name) => only.includes(name)),
    upload: only.includes(uploadName),
    phases: chosen('--at', values.at, phaseNames),
    against,
    database: values.database ?? null,
    seconds: wholeNumber('--seconds', values.seconds) ?? (values.quick ? 1 : against === null ? 3 : 2),
    rounds: wholeNumber('--rounds', values.rounds) ?? (values.quick ? 1 : against === null ? 5 : 15),
    many: values.quick ? 50_000 : 1_000_000,
    json: values.json,
  }
}

const chosen = <T extends string>(flag: string, text: string | undefined, names: readonly T[]): readonly T[] => {
  if (text === undefined) return names
  const asked = text.split(',')
  const unknown = asked.find((name) => !names.some((known) => known === name))
  if (unknown !== undefined) throw new Error(`${flag} knows ${names.join(', ')}.`)
  return names.filter((name) => asked.includes(name))
}

const wholeNumber = (flag: string, text: string | undefined): number | null => {
  if (text === undefined) return null
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Error(`${flag} takes a whole number.`)
  return Number(text)
}
