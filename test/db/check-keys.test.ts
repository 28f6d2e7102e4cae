import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { checkFile } from '../../db/check.ts'
import { migrations } from '../../db/migrations/index.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { signIn } from '../support/sign-in.ts'
import { addFamily } from '../support/grant-family.ts'
import { trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser } from '../support/world.ts'
import { platformOfFile } from '../support/platform-of-file.ts'

const file = join(temporaryFolder(), 'keys.db')
const platform = await platformOfFile(file)
const user = await addUser(platform)
const app = await addApp(platform, user)
await issueAppToken(platform, trace, { ...app.development, scope: null })
await signIn(platform, trace, user)
await addFamily(platform, app, user, 2)

const timeKeyed = ['app_tokens', 'grants', 'authorization_codes', 'token_pairs']

/** What `check` reports while the newest row of the table has this key. */
const checkedWith = (table: string, key: string | number): readonly string[] => {
  using database = new Database(file, { readwrite: true, create: false })
  database.run('PRAGMA foreign_keys = OFF')
  const newest = database.query<{ key: string | number }, []>(`SELECT max(key) AS key FROM ${table}`).get()?.key ?? ''
  const rename = (from: string | number, to: string | number) =>
    database.run(`UPDATE ${table} SET key = ? WHERE key = ?`, [to, from])
  rename(newest, key)
  const told = checkFile(file, migrations)
  rename(key, newest)
  return told
}

test.each(['sessions'])('check reports a malformed text key in %s and in no other table', (table) => {
  for (const wrong of [
    '',
    'z'.repeat(22),
    `${'0'.repeat(21)}=`,
    `${'0'.repeat(21)}é`,
    '0'.repeat(21),
    '0'.repeat(23),
  ]) {
    expect([wrong, ...checkedWith(table, wrong)]).toEqual([
      wrong,
      `A key in ${table} is damaged: restore a backup with app-platform restore FILE.`,
    ])
  }
  expect(checkedWith(table, '0'.repeat(22))).toEqual([])
})

test.each(timeKeyed)('check reports an integer in %s that cannot be a key, and in no other table', (table) => {
  for (const wrong of [-1, Number.MAX_SAFE_INTEGER + 1]) {
    expect([wrong, ...checkedWith(table, wrong)]).toEqual([
      wrong,
      `A key in ${table} is damaged: restore a backup with app-platform restore FILE.`,
    ])
  }
  for (const right of [0, Number.MAX_SAFE_INTEGER]) expect(checkedWith(table, right)).toEqual([])
})
