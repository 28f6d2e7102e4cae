import { expect, test } from 'bun:test'
import { maximumLifetimes } from '../../src/domain/lifetimes.ts'

test('nothing lives longer than the contract says', () => {
  expect(maximumLifetimes).toEqual({
    code: 300,
    appToken: 3_600,
    accessToken: 3_600,
    refreshToken: 2_592_000,
    session: 43_200,
    sessionIdle: 7_200,
    grant: 31_536_000,
    installSessionCode: 60,
    embeddedSession: 600,
  })
})
