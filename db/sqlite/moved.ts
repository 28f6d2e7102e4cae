import { DatabaseUnusable } from '../database.ts'
import type { Connection } from './connection.ts'

export type MoveMark = 'moved' | 'sealed'

/** When a database was marked as moved, or a copy as sealed; null when it was not. Also for a file without our tables. */
export const markedAt = (connection: Connection, mark: MoveMark): number | null => {
  if (connection.value("SELECT count(*) FROM main.sqlite_schema WHERE name = 'watermarks'") !== 1) return null
  const at = connection.value(`SELECT max(at) FROM main.watermarks WHERE name = '${mark}'`)
  return typeof at === 'number' ? at : null
}

/** A sentence about a database that must not be used because it was moved; null for every other. */
export const movedSentence = (connection: Connection, file: string): string | null => {
  const sealed = markedAt(connection, 'sealed')
  if (sealed !== null) {
    return (
      `${file} is the sealed copy of a database that was moved at ${timeOf(sealed)}: ` +
      `put it in place on the other machine with app-platform restore --move ${file}.`
    )
  }
  const moved = markedAt(connection, 'moved')
  if (moved === null) return null
  return (
    `${file} was moved to another machine at ${timeOf(moved)} and is not used here any more: ` +
    'app-platform move --to PATH writes the copy again.'
  )
}

/** @throws DatabaseUnusable ('moved', 'sealed') */
export const assertNotMoved = (connection: Connection, file: string): void => {
  const sentence = movedSentence(connection, file)
  if (sentence === null) return
  throw new DatabaseUnusable(markedAt(connection, 'sealed') === null ? 'moved' : 'sealed', sentence)
}

const timeOf = (at: number): string => new Date(at).toISOString()
