import { type Command, InvalidArgumentError, Option } from 'commander'
import { environments } from '../domain/app.ts'
import { graceHours } from '../domain/credential.ts'
import { parseTimestamp } from '../domain/timestamp.ts'
import { UsageError } from './output.ts'

/** Reads a flag's argument as a whole number within bounds. @throws InvalidArgumentError */
export const wholeNumberFlag =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }

export const environmentOption = (): Option =>
  new Option('--environment <environment>', 'the environment').choices(environments).makeOptionMandatory()

/** How a list was told its app: as the argument or with --app. */
export type AppFlag = { readonly app?: string }

/** The flag of every list whose argument is an app, since some lists are used to one and some to the other. */
export const addAppFlag = (list: Command): Command => list.option('--app <app>', 'the same as the argument')

/** The slug or ID of the app that a list is about; null if none was named. @throws UsageError for two apps */
export const namedApp = (argument: string | undefined, { app }: AppFlag): string | null => {
  if (argument !== undefined && app !== undefined && argument !== app) throw new UsageError('Name one app.')
  return argument ?? app ?? null
}

/** The same for a list that is always about one app. @throws UsageError */
export const requiredApp = (argument: string | undefined, flags: AppFlag): string => {
  const app = namedApp(argument, flags)
  if (app === null) throw new UsageError('Which app? Name it by its slug or ID.')
  return app
}

/** How long a secret stays valid after its rotation. */
export const graceHoursOption = (what: string): Option =>
  new Option('--grace-hours <hours>', `${what}, 0 to ${graceHours.maximum}`)
    .argParser(wholeNumberFlag(0, graceHours.maximum))
    .default(graceHours.default)

export const limitOption = (most: number, usual: number): Option =>
  new Option('--limit <number>', `how many at most, 1 to ${most}`).argParser(wholeNumberFlag(1, most)).default(usual)

/** `what` is chosen since that time. */
export const sinceOption = (what: string): Option =>
  new Option(
    '--since <time>',
    `${what} since a time such as 2026-08-01T12:00:00Z, since a day (2026-08-01, in UTC), or since 30m, 24h or 7d ago`,
  ).argParser(readSince)

/** The start of a period (epoch milliseconds), given the current time. */
export type Since = (now: number) => number

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const isUnit = (text: string): text is keyof typeof unitMs => Object.hasOwn(unitMs, text)

/** Reads a flag's argument as a moment, the start of a day in UTC, or a duration. @throws InvalidArgumentError */
const readSince = (text: string): Since => {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count !== undefined && isUnit(unit)) return (now) => now - Number(count) * unitMs[unit]
  const epochMs = parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
  if (epochMs !== null) return () => epochMs
  throw new InvalidArgumentError(
    'It must be a time such as 2026-08-01T12:00:00Z, a day such as 2026-08-01, or 30m, 24h or 7d.',
  )
}

/** A list in one flag, with commas or spaces between its words. */
export const listedWords = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== '')
