import { DatabaseSync } from 'node:sqlite'

/** What can be revoked together, by its grant. */
const grantable = new Set([
  'AccessToken',
  'AuthorizationCode',
  'BackchannelAuthenticationRequest',
  'DeviceCode',
  'RefreshToken',
])

/** A store as `oidc.mjs` and `oidc-fill.mjs` use it. */
export const openSqlite = (file, synchronous) => {
  const database = openDatabase(file, synchronous)
  const account = database.prepare('SELECT name, email FROM account WHERE id = ?')
  const addAccount = database.prepare('INSERT OR IGNORE INTO account VALUES (?, ?, ?)')
  return {
    adapter: sqliteAdapter(database),
    account: (id) => account.get(id),
    addAccount: (...fields) => void addAccount.run(...fields),
    begin: () => database.exec('BEGIN IMMEDIATE'),
    commit: () => database.exec('COMMIT'),
    close: () => {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      database.close()
    },
  }
}

/** As durable as the platform: WAL, and every commit is synced before it is answered (unless the benchmark asks otherwise). */
const openDatabase = (file, synchronous) => {
  const database = new DatabaseSync(file)
  database.exec(
    `PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
     CREATE TABLE IF NOT EXISTS account (id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL) WITHOUT ROWID`,
  )
  return database
}

/**
 * The adapter that oidc-provider asks for, after the examples in its documentation: a table per model, the payload as
 * JSON, each write a commit of its own. Every statement is prepared once, so that little is lost here.
 */
const sqliteAdapter = (database) =>
  class SqliteAdapter {
    constructor(name) {
      const hasGrant = grantable.has(name)
      database.exec(
        `CREATE TABLE IF NOT EXISTS "${name}" (
           id TEXT PRIMARY KEY, payload TEXT NOT NULL, expires_at INTEGER, consumed_at INTEGER,
           grant_id TEXT, uid TEXT, user_code TEXT);
         CREATE INDEX IF NOT EXISTS "${name}_uid" ON "${name}" (uid) WHERE uid IS NOT NULL;
         CREATE INDEX IF NOT EXISTS "${name}_user_code" ON "${name}" (user_code) WHERE user_code IS NOT NULL;
         ${hasGrant ? `CREATE INDEX IF NOT EXISTS "${name}_grant_id" ON "${name}" (grant_id)` : ''}`,
      )
      const statement = (text) => database.prepare(text)
      const select = `SELECT payload, consumed_at FROM "${name}" WHERE`
      this.byId = statement(`${select} id = ?`)
      this.byUid = statement(`${select} uid = ?`)
      this.byUserCode = statement(`${select} user_code = ?`)
      this.put = statement(
        `INSERT INTO "${name}" (id, payload, expires_at, grant_id, uid, user_code) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at,
           grant_id = excluded.grant_id, uid = excluded.uid, user_code = excluded.user_code`,
      )
      this.mark = statement(`UPDATE "${name}" SET consumed_at = ? WHERE id = ?`)
      this.remove = statement(`DELETE FROM "${name}" WHERE id = ?`)
      this.removeGrant = hasGrant ? statement(`DELETE FROM "${name}" WHERE grant_id = ?`) : null
    }

    async upsert(id, payload, expiresIn) {
      const expiresAt = expiresIn === undefined ? null : now() + expiresIn
      const { grantId = null, uid = null, userCode = null } = payload
      this.put.run(id, JSON.stringify(payload), expiresAt, this.removeGrant === null ? null : grantId, uid, userCode)
    }

    async find(id) {
      return found(this.byId.get(id))
    }

    async findByUid(uid) {
      return found(this.byUid.get(uid))
    }

    async findByUserCode(userCode) {
      return found(this.byUserCode.get(userCode))
    }

    async consume(id) {
      this.mark.run(now(), id)
    }

    async destroy(id) {
      this.remove.run(id)
    }

    async revokeByGrantId(grantId) {
      this.removeGrant?.run(grantId)
    }
  }

const now = () => Math.floor(Date.now() / 1000)

const found = (row) => {
  if (row === undefined) return undefined
  const payload = JSON.parse(row.payload)
  return row.consumed_at === null ? payload : { ...payload, consumed: row.consumed_at }
}
