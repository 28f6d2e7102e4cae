import { SQL } from 'bun'
import { describe, expect, test } from 'bun:test'
import { describeCause } from '../../src/runtime/cause.ts'

const told = (thrown: unknown): string => JSON.stringify(describeCause(thrown))

describe('the cause of a failure is logged', () => {
  test('with its kind, its code and its stack frames', () => {
    const error = Object.assign(new Error('disk'), { code: 'ENOSPC' })
    const described = describeCause(error)
    expect(described).toMatchObject({ name: 'Error', code: 'ENOSPC' })
    expect(described.at?.[0]).toContain('cause.test.ts')
  })

  test('with the SQLSTATE of an error of PostgreSQL, and without what the server said', () => {
    const error = new SQL.PostgresError('Key (email)=(canary@example.com) already exists.', {
      code: 'ERR_POSTGRES_SERVER_ERROR',
      errno: '23505',
      detail: 'canary',
    })
    expect(describeCause(error)).toMatchObject({ name: 'PostgresError', code: '23505' })
    expect(told(error)).not.toContain('canary')
  })

  test('without the message of an error that may quote a value', () => {
    expect(told(new Error('failed query, params: apat_canary, hunter2'))).not.toMatch(/canary|hunter2|params/)
    expect(told(new SyntaxError('JSON Parse error: Unrecognized token hunter2'))).not.toContain('hunter2')
    expect(told('hunter2')).toBe('{"name":"string"}')
  })

  test("with the engine's own message, without its quotes and long words", () => {
    const { message } = describeCause(
      new TypeError(`"hunter2" is not 'hunter2' or \`hunter2\`, nor ${'x'.repeat(77)}.`),
    )
    expect(message).toBe(`"…" is not '…' or \`…\`, nor ….`)
  })

  test('without a message that the stack repeats or that looks like a stack frame', () => {
    const error = new Error('first\n    at hunter2 hunter2 (hunter2)\nlast')
    expect(told(error)).not.toContain('hunter2')
  })

  test('with its causes, up to a limit', () => {
    const error = new Error('outer', { cause: new TypeError('inner') })
    expect(describeCause(error).cause).toMatchObject({ name: 'TypeError', message: 'inner' })
    const loop = new Error('loop')
    loop.cause = loop
    expect(told(loop).length).toBeLessThan(5_000)
  })
})
