/** The table of the servers that share the database. All its times are by the clock of PostgreSQL. */
import { DatabaseUnusable, type NodeFacts, type NodeState } from '../database.ts'
import { databaseNow } from './dialect.ts'
import type { Link } from './link.ts'

/** A server that has not been heard for so long has ended, or refuses what it reads. */
export const silenceMs = 5_000
/** After how long without a heartbeat another node may take the number. */
const abandonedMs = 60_000

/** Also false for times ahead: the clock of PostgreSQL may have been set back. */
export const heardWithin = (ms: number): string => `abs(nodes.beat_at - ${databaseNow}) < ${ms}`

/** Takes the lowest number that no living node has. */
const takeNumberText = `INSERT INTO nodes (number, holder, beat_at, name, version, started_at, settings)
  SELECT free, $1, ${databaseNow}, $2, $3, ${databaseNow}, $4 FROM generate_series(0, 31) AS free
  WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE number = free AND ${heardWithin(abandonedMs)})
  ORDER BY free LIMIT 1
  ON CONFLICT (number) DO UPDATE SET holder = excluded.holder, beat_at = excluded.beat_at, name = excluded.name,
    version = excluded.version, started_at = excluded.started_at, settings = excluded.settings, clock_offset_ms = NULL
  WHERE NOT ${heardWithin(abandonedMs)}
  RETURNING number`

/** @throws DatabaseUnusable if 32 nodes are there */
export const takeNumber = async (
  link: Link,
  holder: string,
  { name, version, settings }: NodeFacts,
): Promise<number> => {
  // Two nodes that start together may look for the same number.
  for (let attempt = 0; attempt < 32; attempt += 1) {
    const [row] = (await link.send(takeNumberText, [holder, name, version, JSON.stringify(settings)])).rows
    if (row !== undefined) return Number(row[0])
    await Bun.sleep(Math.random() * 50)
  }
  throw new DatabaseUnusable('in_use', 'As many as 32 servers share this PostgreSQL database: no more are possible.')
}

/** Whether a server of this machine has fallen silent without giving its number back. */
export const hasAbandoned = async (link: Link, { name }: NodeFacts): Promise<boolean> => {
  if (name === '') return false
  const text = `SELECT 1 FROM nodes WHERE name = $1 AND NOT ${heardWithin(silenceMs)} LIMIT 1`
  return (await link.send(text, [name])).rows.length > 0
}

/** A server that ends gives back its number, and those of this machine that ended without that. */
export const giveBackText = (holder: string): string => `DELETE FROM nodes USING nodes AS own
  WHERE own.holder = '${holder}' AND nodes.name = own.name AND (nodes.holder = own.holder OR NOT ${heardWithin(silenceMs)})`

/** All nodes that were heard in the last minute. */
export const nodesText = `SELECT number, name, version, ${databaseNow} - started_at, ${databaseNow} - beat_at, clock_offset_ms,
    EXISTS (SELECT FROM leases WHERE leases.name = 'jobs' AND leases.holder = nodes.holder AND held_until > ${databaseNow}), settings
  FROM nodes WHERE ${heardWithin(abandonedMs)} ORDER BY number`

/** Reads a row of `nodesText`, as the node with these settings sees it. */
export const nodeOf = (row: readonly unknown[], own: NodeFacts['settings']): NodeState => {
  const [number, name, version, runningMs, silentMs, offset, leads, settings] = row
  return {
    number: Number(number),
    name: String(name),
    version: String(version),
    runningMs: Number(runningMs),
    silentMs: Number(silentMs),
    clockOffsetMs: offset === null ? null : Number(offset),
    leads: leads === true,
    // Of one that has ended, the settings are history.
    differs: Number(silentMs) > silenceMs ? [] : differences(own, JSON.parse(String(settings))),
  }
}

/** The settings that both know and in which they differ: another version may have others. */
const differences = (own: NodeFacts['settings'], other: NodeFacts['settings']): readonly string[] =>
  Object.entries(own).flatMap(([name, value]) => (other[name] === undefined || other[name] === value ? [] : [name]))
