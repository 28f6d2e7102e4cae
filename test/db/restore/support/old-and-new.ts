import { Database } from 'bun:sqlite'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createUser } from '../../../../src/operations/users/users.ts'
import { openAsOperator, operator, trace } from '../../../support/operator.ts'
import { lastingFolder, temporaryFolder } from '../../../support/temporary-folder.ts'
import { backUp } from '../../../support/database-file.ts'

/** A database, and a backup of it in a folder of its own. */
export type Place = { readonly folder: string; readonly file: string; readonly backup: string }

export const oldEmails = ['first@example.com']
export const newEmails = ['first@example.com', 'second@example.com']

const placeIn = (folder: string): Place => {
  mkdirSync(join(folder, 'backup'), { mode: 0o700 })
  return { folder, file: join(folder, 'app-platform.db'), backup: join(folder, 'backup', 'copy.db') }
}

let original: Promise<Place> | null = null

const makeOriginal = async (): Promise<Place> => {
  const place = placeIn(lastingFolder())
  const platform = await openAsOperator(place.file)
  const addUser = async (email: string) => {
    const person = { email, name: 'Ada Example', password: 'correct horse battery', isOperator: false }
    await createUser(platform, trace, operator, person)
  }
  await addUser('first@example.com')
  backUp(place.file, place.backup)
  await addUser('second@example.com')
  await platform.database.close()
  return place
}

/** A database with two users, and a backup from before the second one. The caller may change both. */
export const oldAndNew = async (): Promise<Place> => {
  const from = await (original ??= makeOriginal())
  const place = placeIn(temporaryFolder())
  for (const which of ['file', 'backup'] as const) copyFileSync(from[which], place[which])
  copyFileSync(`${from.file}.acknowledged`, `${place.file}.acknowledged`)
  return place
}

/** Opens the database as a server would, which first rolls back what a killed process left half done. */
export const emailsIn = (file: string): string[] => {
  const database = new Database(file, { readwrite: true, create: false })
  const rows = database.query('SELECT email FROM users ORDER BY email').values()
  database.close()
  return rows.map(([email]) => String(email))
}
