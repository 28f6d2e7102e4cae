import type { LimitChange } from '../../src/domain/limits.ts'
import type { Cluster } from '../database.ts'
import { databaseNow } from './dialect.ts'
import type { Link } from './link.ts'

/** How long a lease is held. So long after a server has died at most, others take its work. */
const leaseMs = 55_000
/** How long one piece of work takes at most, such as an attempt to deliver a webhook and its record. */
const longestWorkMs = 40_000
const forgottenMs = 86_400_000

/** Any number that no other lock has. */
const limitsLock = 0x41706c69

const nowMicros = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

/**
 * What the servers that share a PostgreSQL database agree on beside the data. `use` lends a connection that is in no transaction;
 * each text is one message, hence one transaction.
 */
export const openCluster = (use: <T>(work: (link: Link) => Promise<T>) => Promise<T>): Cluster => {
  const server = crypto.randomUUID()
  /** The leases of this server: who holds each, and until when by its own clock. */
  const held = new Map<string, Lease>()
  let taken = 0
  /** When the limits were merged last, in microseconds of PostgreSQL. */
  let mergedAt = 0

  return {
    mergeLimits: async (changes) => {
      const answers = await use(async (link) => await link.sendAll(mergeText(changes, mergedAt)))
      const [[now] = []] = rowsOf(answers, -2)
      // After a failover the clock of the new primary may be behind: then all rows are read once more.
      mergedAt = Number(now) < mergedAt ? 0 : Number(now)
      return rowsOf(answers, -1).map(([policy, set, fingerprint, owed]) => ({
        policy: policy === 'sign_in' ? 'sign_in' : 'failed',
        set: Number(set),
        fingerprint: Number(fingerprint),
        owed: Number(owed),
      }))
    },

    takeLeases: async (names, most) => {
      const startedAt = performance.now()
      // Each time another holder: what a connection that hangs may still do to an earlier lease must not end this one.
      const holder = `${server} ${(taken += 1)}`
      const { rows } = await use(
        async (link) => await link.send(takeText, [JSON.stringify(names), most, holder, `${server} `]),
      )
      const got = rows.map(([name]) => String(name))
      for (const name of got) held.set(name, { holder, until: startedAt + leaseMs })
      return got
    },

    keepLease: async (name) => {
      const startedAt = performance.now()
      const lease = held.get(name)
      if (lease === undefined) return false
      if (lease.until - startedAt > longestWorkMs) return true
      const { changes } = await use(async (link) => await link.send(extendText, [name, lease.holder]))
      if (changes === 0) return false
      held.set(name, { ...lease, until: startedAt + leaseMs })
      return true
    },

    endLease: async (name, restMs) => {
      const lease = held.get(name)
      held.delete(name)
      if (lease === undefined) return
      const { holder } = lease
      const ending = use(async (link) =>
        restMs > 0
          ? await link.send(restText, [name, holder, Math.ceil(restMs)])
          : await link.send(endText, [name, holder]),
      )
      // Where the database cannot be reached, the lease ends by itself, or this server takes it again.
      await ending.catch(() => undefined)
    },
  }
}

/** Of the common work of all servers, or of a webhook endpoint that is being called, or rests because it has asked for a pause. */
type Lease = { readonly holder: string; readonly until: number }

type Answers = Awaited<ReturnType<Link['sendAll']>>
const rowsOf = (answers: Answers, at: number): readonly unknown[][] => answers.at(at)?.rows ?? []

/**
 * `shared_limits` has until when a key owes, under a keyed hash of the key. It is unlogged, so it costs no sync, and no request waits
 * for it. One server at a time merges, so `changed_at` follows the order of the commits. A key that has no row starts with all that it owes
 * here: the rows are gone after a crash of PostgreSQL and after a failover. No key owes more than two windows, however many servers
 * counted it at the same time.
 */
const mergeText = (changes: readonly LimitChange[], since: number): string =>
  [
    `SELECT pg_advisory_xact_lock(${limitsLock})`,
    ...(changes.length === 0 ? [] : [addText(changes)]),
    `DELETE FROM shared_limits WHERE owed_until <= ${nowMicros}`,
    `SELECT ${nowMicros}`,
    `SELECT policy, set_number, fingerprint, owed_until - ${nowMicros} FROM shared_limits WHERE changed_at >= ${since}`,
  ].join(';\n')

/** The values are numbers and names of policies. */
const addText = (changes: readonly LimitChange[]): string => {
  const rows = changes.map(
    ({ policy, set, fingerprint, owed, added, window }) =>
      `('${policy}', ${set}::bigint, ${fingerprint}::bigint, ${owed}::bigint, ${added}::bigint, ${window}::bigint)`,
  )
  const isSame = 's.policy = c.policy AND s.set_number = c.set_number AND s.fingerprint = c.fingerprint'
  return `WITH c (policy, set_number, fingerprint, owed, added, window_length) AS (VALUES ${rows.join()}),
    updated AS (
      UPDATE shared_limits s SET changed_at = ${nowMicros},
        owed_until = least(greatest(s.owed_until, ${nowMicros}) + c.added, ${nowMicros} + 2 * c.window_length)
      FROM c WHERE ${isSame} RETURNING s.policy, s.set_number, s.fingerprint)
    INSERT INTO shared_limits (policy, set_number, fingerprint, owed_until, changed_at)
    SELECT policy, set_number, fingerprint, ${nowMicros} + owed, ${nowMicros} FROM c
    WHERE NOT EXISTS (SELECT 1 FROM updated s WHERE ${isSame})`
}

/** Or this server's, which has not got to ending it. */
const isFree = `(leases.held_until <= ${databaseNow} OR starts_with(leases.holder, $4))`

/** The names come as JSON; none of them is in use here. Taken in the order of the names, so that two servers do not wait for each other. */
const takeText = `WITH free AS (
    SELECT wanted.name FROM json_array_elements_text($1::text::json) WITH ORDINALITY AS wanted (name, place)
    WHERE NOT EXISTS (SELECT 1 FROM leases WHERE leases.name = wanted.name AND NOT ${isFree})
    ORDER BY wanted.place LIMIT $2::bigint)
  INSERT INTO leases (name, holder, held_until)
  SELECT name, $3, ${databaseNow} + ${leaseMs} FROM free ORDER BY name
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until WHERE ${isFree}
  RETURNING name`

const extendText = `UPDATE leases SET held_until = ${databaseNow} + ${leaseMs} WHERE name = $1 AND holder = $2`

const restText = `UPDATE leases SET held_until = ${databaseNow} + $3::bigint WHERE name = $1 AND holder = $2`

/** Also removes what was never taken again, such as rests of endpoints that have been removed. */
const endText = `DELETE FROM leases WHERE (name = $1 AND holder = $2) OR held_until < ${databaseNow} - ${forgottenMs}`
