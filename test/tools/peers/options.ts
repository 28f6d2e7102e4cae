import { parseArgs } from 'node:util'
import type { Synchronous } from './peers.ts'

export type Options = {
  readonly seconds: number
  readonly rounds: number
  /** Of each kind of request, before the counted rounds. */
  readonly warmUpSeconds: number
  /** Live tokens of each kind in each server's file. */
  readonly live: number
  /** Sizes of the file with which the platform is measured alone; empty to leave that part out. */
  readonly growth: readonly number[]
  readonly starts: number
  readonly synchronous: Synchronous
  /** Whether every server uses a database of one PostgreSQL server, which is started for this. */
  readonly onPostgres: boolean
}

export const usage = `bun run bench:peers [--quick] [--seconds N] [--rounds N] [--live N] [--growth N,… | none] [--peers-sync MODE] [--database postgres]

  --quick        about two minutes: one short round each, and the platform alone up to 20,000 tokens
  --seconds      length of a round (2)
  --rounds       counted rounds of each, taking turns (3)
  --live         live tokens of each kind in each server's file (10,000)
  --growth       sizes of the file with which the platform is measured alone (1000,100000,1000000; try 5000000)
  --peers-sync   FULL, NORMAL or OFF: how durable the peers are (FULL, as the platform and glewlwyd always are)
  --database     postgres: every server on a database of one temporary PostgreSQL server; without glewlwyd and growth`

const modes: readonly Synchronous[] = ['FULL', 'NORMAL', 'OFF']

/** @throws Error with a sentence about the flag at fault */
export const readOptions = (argv: readonly string[]): Options | null => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      live: { type: 'string' },
      growth: { type: 'string' },
      'peers-sync': { type: 'string', default: 'FULL' },
      database: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return null
  const synchronous = modes.find((mode) => mode === values['peers-sync'])
  if (synchronous === undefined) throw new Error(`--peers-sync knows ${modes.join(', ')}.`)
  if (values.database !== undefined && values.database !== 'postgres') throw new Error('--database knows postgres.')
  const onPostgres = values.database === 'postgres'
  const seconds = whole('--seconds', values.seconds) ?? (values.quick ? 1 : 2)
  return {
    seconds,
    warmUpSeconds: seconds,
    rounds: whole('--rounds', values.rounds) ?? (values.quick ? 1 : 3),
    live: whole('--live', values.live) ?? (values.quick ? 1_000 : 10_000),
    growth: onPostgres ? [] : (sizes(values.growth) ?? (values.quick ? [1_000, 20_000] : [1_000, 100_000, 1_000_000])),
    starts: values.quick ? 3 : 5,
    synchronous,
    onPostgres,
  }
}

const sizes = (text: string | undefined): readonly number[] | null => {
  if (text === undefined) return null
  return text === 'none' ? [] : text.split(',').map((size) => whole('--growth', size) ?? 0)
}

const whole = (flag: string, text: string | undefined): number | null => {
  if (text === undefined) return null
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new Error(`${flag} takes a whole number.`)
  return Number(text)
}
