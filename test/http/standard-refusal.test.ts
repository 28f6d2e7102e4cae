import { expect, test } from 'bun:test'
import { type ErrorCode, PlatformError } from '../../src/domain/errors.ts'
import { standardRefusal } from '../../src/http/standard-refusal.ts'
import { callWith } from './support/door.ts'

const answerTo = async (code: ErrorCode, path = '/oauth/token') => {
  const answer = standardRefusal(new PlatformError(code), callWith(new Request(`http://localhost${path}`)))
  return answer === null ? null : [answer.status, JSON.parse(await answer.text()).error]
}

test('a failure of the server is server_error, and refusals without a name in the RFCs are invalid_request', async () => {
  expect(await answerTo('internal_error')).toEqual([500, 'server_error'])
  expect(await answerTo('payload_too_large')).toEqual([413, 'invalid_request'])
  expect(await answerTo('unavailable')).toEqual([503, 'temporarily_unavailable'])
})

test('only the endpoints for forms are answered in this format', async () => {
  expect(await answerTo('internal_error', '/oauth/authorize')).toBeNull()
  expect(await answerTo('internal_error', '/api/app-platform/oauth/token')).toBeNull()
})
