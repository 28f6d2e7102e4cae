import { InvalidArgumentError, Option } from 'commander'
import { environments } from '../domain/app.ts'
import { graceHours } from '../domain/credential.ts'
import { parseTimestamp } from '../domain/timestamp.ts'

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
    `${what} since a time such as 2026-08-01T12:00:00Z, or since 30m, 24h or 7d ago`,
  ).argParser(readSince)

/** The start of a period (epoch milliseconds), given the current time. */
export type Since = (now: number) => number

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const isUnit = (text: string): text is keyof typeof unitMs => Object.hasOwn(unitMs, text)

/** Reads a flag's argument as a moment or a duration. @throws InvalidArgumentError */
const readSince = (text: string): Since => {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count !== undefined && isUnit(unit)) return (now) => now - Number(count) * unitMs[unit]
  const epochMs = parseTimestamp(text)
  if (epochMs !== null) return () => epochMs
  throw new InvalidArgumentError('It must be a time such as 2026-08-01T12:00:00Z, or 30m, 24h or 7d.')
}
