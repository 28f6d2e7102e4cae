import { InvalidArgumentError } from 'commander'

/** Reads the argument of a flag as a whole number within bounds; anything else is a wrong call. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
