import { existsSync } from 'node:fs'
import { Connection } from './connection.ts'
import { companionsOf } from './private-file.ts'

/*
 * How many commits a database has seen, kept in its `user_version`: 32 bits that go round, so that of two counts the
 * later one is ahead by less than half of the circle.
 */

export const nextCount = (count: number): number => (count + 1) | 0

export const isBehind = (count: number, other: number): boolean => ((count - other) | 0) < 0

export const laterCount = (count: number, other: number): number => (isBehind(count, other) ? other : count)

export const readCount = (connection: Connection): number => Number(connection.value('PRAGMA main.user_version'))

/**
 * A connection that changes nothing. A WAL that is there stays as it is, which only a reading connection promises: a
 * writing one copies it as it closes. Without one a writing connection is right, because a reading one leaves the empty
 * WAL that it makes.
 */
export const connectForLooking = (file: string): Connection =>
  existsSync(companionsOf(file).wal)
    ? new Connection(file, { readonly: true })
    : new Connection(file, { readwrite: true, create: false })
