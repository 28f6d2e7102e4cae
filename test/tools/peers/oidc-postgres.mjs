import pg from 'pg'

/** Everything that oidc-provider may store here. */
const models = [
  'AccessToken',
  'AuthorizationCode',
  'ClientCredentials',
  'Grant',
  'Interaction',
  'RefreshToken',
  'Session',
]

/** Connections of one server: what `pg` and the platform's guide advise. */
const connections = 20

/** A store as `oidc.mjs` and `oidc-fill.mjs` use it. A filling process has one connection, for its transactions. */
export const openPostgres = async (url, isFilling) => {
  // An integer of 64 bits is a number, as in SQLite.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  const pool = new pg.Pool({ connectionString: url, max: isFilling ? 1 : connections })
  if (isFilling) await createTables(pool)
  return {
    adapter: postgresAdapter(pool),
    account: async (id) => {
      const text = 'SELECT name, email FROM account WHERE id = $1'
      return (await pool.query({ name: 'account', text, values: [id] })).rows[0]
    },
    addAccount: async (...account) => {
      await pool.query('INSERT INTO account VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', account)
    },
    begin: async () => void (await pool.query('BEGIN')),
    commit: async () => void (await pool.query('COMMIT')),
    close: async () => await pool.end(),
  }
}

const createTables = async (pool) => {
  await pool.query('CREATE TABLE IF NOT EXISTS account (id text PRIMARY KEY, name text NOT NULL, email text NOT NULL)')
  for (const name of models) {
    await pool.query(
      `CREATE TABLE IF NOT EXISTS "${name}" (
         id text PRIMARY KEY, payload jsonb NOT NULL, expires_at bigint, consumed_at bigint,
         grant_id text, uid text, user_code text);
       CREATE INDEX IF NOT EXISTS "${name}_uid" ON "${name}" (uid) WHERE uid IS NOT NULL;
       CREATE INDEX IF NOT EXISTS "${name}_user_code" ON "${name}" (user_code) WHERE user_code IS NOT NULL;
       CREATE INDEX IF NOT EXISTS "${name}_grant_id" ON "${name}" (grant_id) WHERE grant_id IS NOT NULL`,
    )
  }
}

/**
 * The adapter that oidc-provider asks for, after the examples in its documentation: a table per model, the payload as
 * JSON, each write a commit of its own. Every statement has a name, so that it is prepared once for each connection.
 */
const postgresAdapter = (pool) =>
  class PostgresAdapter {
    constructor(name) {
      this.name = name
    }

    async run(what, text, values) {
      return (await pool.query({ name: `${this.name}.${what}`, text, values })).rows
    }

    async one(column, value) {
      const text = `SELECT payload, consumed_at FROM "${this.name}" WHERE ${column} = $1`
      const [row] = await this.run(column, text, [value])
      if (row === undefined) return undefined
      return row.consumed_at === null ? row.payload : { ...row.payload, consumed: row.consumed_at }
    }

    async upsert(id, payload, expiresIn) {
      const expiresAt = expiresIn === undefined ? null : now() + expiresIn
      const { grantId = null, uid = null, userCode = null } = payload
      const text = `INSERT INTO "${this.name}" (id, payload, expires_at, grant_id, uid, user_code)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at,
          grant_id = excluded.grant_id, uid = excluded.uid, user_code = excluded.user_code`
      await this.run('upsert', text, [id, JSON.stringify(payload), expiresAt, grantId, uid, userCode])
    }

    async find(id) {
      return await this.one('id', id)
    }

    async findByUid(uid) {
      return await this.one('uid', uid)
    }

    async findByUserCode(userCode) {
      return await this.one('user_code', userCode)
    }

    async consume(id) {
      await this.run('consume', `UPDATE "${this.name}" SET consumed_at = $1 WHERE id = $2`, [now(), id])
    }

    async destroy(id) {
      await this.run('destroy', `DELETE FROM "${this.name}" WHERE id = $1`, [id])
    }

    async revokeByGrantId(grantId) {
      await this.run('revoke', `DELETE FROM "${this.name}" WHERE grant_id = $1`, [grantId])
    }
  }

const now = () => Math.floor(Date.now() / 1000)
