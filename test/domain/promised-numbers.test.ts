import { expect, test } from 'bun:test'
import { graceHours, lastUsePrecisionMs, maximumLiveSecrets } from '../../src/domain/credential.ts'
import { keyedRetryMs } from '../../src/domain/grant.ts'
import { refreshRetry } from '../../src/domain/lifetimes.ts'
import { passwordFault } from '../../src/domain/password.ts'
import { defaultQuotas, defaultRateLimits } from '../../src/domain/limits.ts'
import { maximumRedirectUris } from '../../src/domain/registered-url.ts'
import { artifactLimits, manifestLimitBytes } from '../../src/domain/version.ts'
import { attemptTimeoutMs, failingForMs, maximumAttempts, webhookHistoryMs } from '../../src/domain/webhook-delivery.ts'
import { maximumEndpoints } from '../../src/domain/webhook-event.ts'
import { defaultDrainMs, idleSeconds } from '../../src/http/server.ts'

// Numbers that are promised to clients, owners and operators; lifetimes have their own test.

const hour = 3_600_000

test('limits of calls are by default those of the contract', () => {
  expect(defaultRateLimits).toEqual({
    token: { count: 600, seconds: 60 },
    failed: { count: 120, seconds: 300 },
    authorize: { count: 120, seconds: 60 },
    read: { count: 3_000, seconds: 60 },
    write: { count: 120, seconds: 60 },
    daily: { count: 2_000, seconds: 86_400 },
    management: { count: 6_000, seconds: 60 },
    sign_in: { count: 10, seconds: 300 },
    code: { count: 10, seconds: 3_600 },
    address: { count: 6_000, seconds: 60 },
  })
})

test('an environment has at most two live secrets, and a rotated one stays valid for a day by default and a week at most', () => {
  expect(maximumLiveSecrets).toBe(2)
  expect(graceHours).toEqual({ default: 24, maximum: 168 })
  expect(lastUsePrecisionMs).toBe(60_000)
})

test('a request whose answer was lost can be repeated for a minute with a key; without one, a refresh for ten seconds by default', () => {
  expect(keyedRetryMs).toBe(60_000)
  expect(refreshRetry).toEqual({ default: 10, maximum: 60 })
})

test('an upload has at most 10 MiB, and its manifest 256 KiB', () => {
  expect(artifactLimits).toEqual({ bytes: 10 * 1024 ** 2, chunkBytes: 256 * 1024 })
  expect(manifestLimitBytes).toBe(256 * 1024)
})

test('by default, an account has at most 100 apps, and an app 4,000 versions and 1 GiB of artifacts', () => {
  expect(defaultQuotas).toEqual({ apps: 100, versions: 4_000, artifactBytes: 1024 ** 3 })
})

test('an environment has at most 100 redirect URIs and 10 endpoints', () => {
  expect([maximumRedirectUris, maximumEndpoints]).toEqual([100, 10])
})

test('an event is attempted ten times and kept for thirty days; an endpoint may fail for five', () => {
  expect(maximumAttempts).toBe(10)
  expect([attemptTimeoutMs, failingForMs, webhookHistoryMs]).toEqual([15_000, 120 * hour, 720 * hour])
})

test('a server that stops lets requests end for ten seconds; a connection may be idle for thirty', () => {
  expect([defaultDrainMs, idleSeconds]).toEqual([10_000, 30])
})

test('a password has from 8 characters to 72 bytes', () => {
  expect(passwordFault('x'.repeat(7))).not.toBeNull()
  expect(passwordFault('x'.repeat(8))).toBeNull()
  expect(passwordFault('x'.repeat(72))).toBeNull()
  expect(passwordFault('x'.repeat(73))).not.toBeNull()
})
