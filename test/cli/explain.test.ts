import { expect, test } from 'bun:test'
import { DatabaseUnusable } from '../../db/database.ts'
import { CommandFailed, UsageError } from '../../src/cli/output.ts'
import { explain } from '../../src/cli/explain.ts'
import { ConfigError } from '../../src/config.ts'
import { refuse } from '../../src/domain/errors.ts'

test('wrong calls and wrong settings exit 2, everything else 1', () => {
  const requestId = null
  const two = { sentences: ['One.', 'Two.'], requestId }
  expect(explain(new UsageError('No.'))).toEqual({ exitCode: 2, code: 'usage', sentences: ['No.'], requestId })
  expect(explain(new ConfigError(['One.', 'Two.']))).toEqual({ exitCode: 2, code: 'invalid_settings', ...two })
  expect(explain(new CommandFailed(['One.', 'Two.']))).toEqual({ exitCode: 1, code: 'command_failed', ...two })
  const busy = { exitCode: 1, code: 'database_unusable', sentences: ['Busy.'], requestId } as const
  expect(explain(new DatabaseUnusable('busy', 'Busy.'))).toEqual(busy)
  expect(explain(refuse('version_not_found'))).toMatchObject({ exitCode: 1, code: 'version_not_found' })
  expect(explain('thrown text')).toMatchObject({ exitCode: 1, code: 'command_failed' })
})

test('a refusal names the status that caused it', () => {
  const { sentences } = explain(refuse('version_not_eligible', { details: { status: 'draft' } }))
  expect(sentences).toEqual(['The status of the version does not allow this. Its status is draft.'])
})

test('every sentence is one line', () => {
  expect(explain(new DatabaseUnusable('busy', 'First\n  second\r\nthird.')).sentences).toEqual(['First second third.'])
})

test('an error of a query does not show its values', () => {
  const cause = Object.assign(new Error('UNIQUE constraint failed'), { name: 'SQLiteError', code: 'SQLITE_CONSTRAINT' })
  const error = new Error("Failed query: insert into users values ('canary-secret')", { cause })
  const { sentences } = explain(error)
  expect(sentences.join()).not.toContain('canary')
  expect(sentences.join()).toContain('SQLITE_CONSTRAINT')
})

test('an error of the file system names the file', () => {
  const missing = Object.assign(new Error('open'), { code: 'ENOENT', path: '/proc/copy.db' })
  expect(explain(missing).sentences).toEqual(['There is no such file or folder: /proc/copy.db.'])
  const closed = Object.assign(new Error('write'), { code: 'EPIPE' })
  expect(explain(closed).sentences).toEqual(['The reader of the output stopped before all of it was written.'])
})

test('errors of the file system are plain sentences', () => {
  const full = Object.assign(new Error('write'), { code: 'ENOSPC' })
  expect(explain(full).sentences).toEqual(['The disk is full: make room.'])
  const cause = Object.assign(new Error('database or disk is full'), { name: 'SQLiteError', code: 'SQLITE_FULL' })
  expect(explain(cause).sentences).toEqual(['The disk is full: make room.'])
  expect(explain(new Error('Failed query: insert', { cause })).sentences).toEqual(['The disk is full: make room.'])
})

test.each(['300.1.1.1', 'no.such.host.invalid', '192.0.2.1'])(
  'an address that this machine does not have is reported: %p',
  (hostname) => {
    const listen = () => Bun.serve({ hostname, port: 0, fetch: () => new Response() })
    expect(listen).toThrow()
    try {
      listen()
    } catch (error) {
      expect(explain(error).sentences).toEqual(['This machine has no such address to listen on.'])
    }
  },
)
