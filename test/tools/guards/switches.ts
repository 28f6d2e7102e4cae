import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * The functions that a woven copy of the source calls wherever a guard could be broken. The file `active` in this folder holds the
 * number of the one broken guard, or nothing. It is a file and not an environment variable, because the tests start servers with
 * an environment of their own. If the file `seen` exists, the number of every guard whose break would have changed something
 * is appended to it: a test that never gets there cannot notice the break.
 */

const read = (name: string): string | null => {
  try {
    return readFileSync(join(import.meta.dirname, name), 'utf8')
  } catch {
    return null
  }
}

const active = Number(read('active') ?? 0)
const isSurvey = read('seen') !== null
const written = new Set<number>()

const saw = (id: number): void => {
  if (!isSurvey || written.has(id)) return
  written.add(id)
  appendFileSync(join(import.meta.dirname, 'seen'), `${id}\n`)
}

/** Whether this guard is the broken one. */
export const $broken = (id: number): boolean => {
  saw(id)
  return id === active
}

/** The answer, or yes. */
export const $yes = <T>(id: number, answer: T): T | true => {
  if (!answer) saw(id)
  return id === active ? true : answer
}

/** The answer, or no. */
export const $no = <T>(id: number, answer: T): T | false => {
  if (answer) saw(id)
  return id === active ? false : answer
}

/** The value, or nothing. */
export const $without = <T>(id: number, value: T): T | undefined => {
  saw(id)
  return id === active ? undefined : value
}

/** A comparison; if broken, it decides the other way when both sides are equal. */
export const $bound = <T extends number | bigint | string>(id: number, operator: string, a: T, b: T): boolean => {
  const isEqual = a === b
  if (isEqual) saw(id)
  if (isEqual && id === active) return !operator.endsWith('=')
  if (operator === '<') return a < b
  if (operator === '<=') return a <= b
  return operator === '>' ? a > b : a >= b
}

/** The number, or twice as much. */
export const $twice = (id: number, value: number): number => {
  saw(id)
  return id === active ? value * 2 : value
}
