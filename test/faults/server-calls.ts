import { expect } from 'bun:test'
import { type Answer, call, codeOf } from '../support/call.ts'
import { type World } from '../support/world.ts'

/** Calls that show whether a faulty server is ready, writes and reads. */
export const ready = async ({ server }: World): Promise<Answer> => await call(server.url, 'GET', '~/readyz')
export const issue = async ({ server, app }: World): Promise<Answer> =>
  await call(server.url, 'POST', '/token', { body: { ...app.development, scope: 'site:read' } })
export const me = async ({ server }: World, token: string): Promise<number> =>
  (await call(server.url, 'GET', '/me', { token })).status

export const expectUnavailable = (answer: Answer) => {
  expect([answer.status, codeOf(answer)]).toEqual([503, 'unavailable'])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}
