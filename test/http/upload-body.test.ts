import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { errorHandling } from '../../src/http/errors.ts'
import { rememberContext } from '../../src/http/request-context.ts'
import { uploadBody } from '../../src/http/upload-body.ts'
import { createLog } from '../../src/runtime/log.ts'
import { contextFrom } from './support/door.ts'

const log = createLog({ write: () => undefined, flush: () => undefined })
const app = new Elysia()
  .use(errorHandling(log, () => null))
  .use(uploadBody(Type.Object({ a: Type.Integer() })))
  .post('/', async ({ body }) => body)

/** What the upload is answered when it began so long ago. */
const answerAfter = async (milliseconds: number, body = '{"a":1}') => {
  const request = new Request('http://localhost/', { method: 'POST', body })
  rememberContext(request, { ...contextFrom('local'), startedAt: performance.now() - milliseconds })
  const answer = await app.handle(request)
  return [answer.status, JSON.parse(await answer.text())]
}

test('an upload that is still arriving after five minutes is told to come back', async () => {
  expect(await answerAfter(290_000)).toEqual([200, { a: 1 }])
  expect(await answerAfter(300_001)).toMatchObject([503, { error: { code: 'unavailable' } }])
})

test('an integer that would come back rounded is refused with a sentence that says what to do', async () => {
  expect(await answerAfter(0, '{"a":9007199254740993}')).toMatchObject([
    400,
    { error: { code: 'invalid_request', message: expect.stringContaining('send it as a string') } },
  ])
})
