import { describe, expect, test } from 'bun:test'
import { secretPrefixes, webhookSecretPrefix } from '../../src/domain/secret.ts'
import { createLog, type LogFields, type LogOptions } from '../../src/runtime/log.ts'

const noon = Date.UTC(2026, 7, 1, 12)
const secret = `apat_${'x'.repeat(71)}`
const requestId = `req_${'0'.repeat(32)}`

const lines = (write: (log: ReturnType<typeof createLog>) => void): string[] => {
  const written: string[] = []
  write(createLog({ write: (line) => void written.push(line), flush: () => undefined }, () => noon))
  return written
}
const parsed = (fields: LogFields): unknown => JSON.parse(lines((log) => log.info('test.happened', fields))[0] ?? '')

describe('a line of the log', () => {
  test('is JSON with a time, a level and an event', () => {
    expect(lines((log) => log.warn('purge.slow', { job: 'purge', seconds: 3 }))).toEqual([
      '{"at":"2026-08-01T12:00:00.000Z","level":"warn","event":"purge.slow","job":"purge","seconds":3}\n',
    ])
  })

  test('leaves out unknown fields', () => {
    expect(parsed({ appId: `app_${'1'.repeat(32)}`, clientRequestId: null })).toEqual({
      at: '2026-08-01T12:00:00.000Z',
      level: 'info',
      event: 'test.happened',
      appId: `app_${'1'.repeat(32)}`,
    })
  })

  test.each<LogFields>([
    { appId: secret },
    { grantId: secret },
    { userId: 'ada@example.com' },
    { clientId: secret },
    { route: secret },
    { job: secret },
    { kind: secret },
    { errorCode: secret },
    { address: secret },
    { clientRequestId: `mine-${secret}` },
    { reason: `It was ${secret}.` },
    { requestId: 'req_"},{"level":"' },
  ])('withholds a value that its field does not allow: %p', (fields) => {
    const [line = ''] = lines((log) => log.info('test.happened', fields))
    expect(line).toContain(':"[withheld]"')
    expect(line).not.toContain('apat_')
    expect(line).not.toContain('ada@')
  })

  test.each([...Object.values(secretPrefixes), webhookSecretPrefix])('withholds a text with %s in it', (prefix) => {
    for (const value of [prefix, `see ${prefix}x`, `/a?b=${prefix}${'x'.repeat(71)}`]) {
      const [line = ''] = lines((log) =>
        log.warn('test.happened', { reason: value, clientRequestId: value, job: prefix }),
      )
      expect(JSON.parse(line)).toMatchObject({ reason: '[withheld]', clientRequestId: '[withheld]', job: '[withheld]' })
    }
  })

  test('has no field that is not on the list', () => {
    const stray = { requestId, token: secret, password: 'correct horse' }
    expect(parsed(stray)).toEqual({ at: '2026-08-01T12:00:00.000Z', level: 'info', event: 'test.happened', requestId })
  })

  test('is one line of ASCII for any text', () => {
    const [line = ''] = lines((log) => log.info('test.happened', { reason: 'a\nb\u2028c "é" 😀' }))
    expect(line.split('\n')).toHaveLength(2)
    expect(line).toMatch(/^[\x20-\x7e]+\n$/)
    expect(JSON.parse(line)).toMatchObject({ reason: 'a\nb\u2028c "é" 😀' })
  })

  test('of an answer has the same form, and withholds a token that the caller sent as request ID', () => {
    const [line = ''] = lines((log) =>
      log.answered('GET', 404, 1.2345, {
        requestId,
        clientRequestId: secret,
        address: '::1',
        route: 'unmatched',
        notes: { errorCode: 'route_not_found', clientId: secret },
      }),
    )
    expect(JSON.parse(line)).toEqual({
      at: '2026-08-01T12:00:00.000Z',
      level: 'info',
      event: 'http.answered',
      requestId,
      clientRequestId: '[withheld]',
      method: 'GET',
      route: 'unmatched',
      status: 404,
      durationUs: 1235,
      address: '::1',
      errorCode: 'route_not_found',
      clientId: '[withheld]',
    })
  })
})

test('an answer with 5xx is an error and any other is information, and the settings decide which are logged', () => {
  const request = { requestId, clientRequestId: null, address: 'local', route: '/me', notes: {} }
  const statuses = (...[level, requests]: [LogOptions['level'], LogOptions['requests']]): readonly number[] => {
    const written: string[] = []
    const writer = { write: (line: string) => void written.push(line), flush: () => undefined }
    const log = createLog(writer, () => noon, { level, requests })
    for (const status of [200, 302, 400, 429, 500, 503]) log.answered('GET', status, 1, request)
    return written.map((line) => JSON.parse(line)).map(({ status }) => status)
  }
  expect(statuses('info', 'all')).toEqual([200, 302, 400, 429, 500, 503])
  expect(statuses('info', 'errors')).toEqual([400, 429, 500, 503])
  expect(statuses('warn', 'all')).toEqual([500, 503])
  expect(statuses('error', 'errors')).toEqual([500, 503])
  expect(statuses('debug', 'none')).toEqual([])
})
