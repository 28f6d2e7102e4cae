import { expect, test } from 'bun:test'
import { embeddedScopes, embeddingFault, isEmbeddedSessionLive } from '../../src/domain/session.ts'

const now = 1_000_000
const alive = {
  createdAt: now - 1,
  expiresAt: now + 1,
  endedAt: null,
  installApproval: 'approved',
  installState: 'active',
  appStatus: 'active',
  environment: 'production',
  userId: 'usr_1',
  appOwnerId: 'usr_2',
  memberRole: null,
  userStatus: 'active',
  sessionCreatedAt: now - 10,
  sessionExpiresAt: now + 10,
  sessionEndedAt: null,
  sessionLastUsedAt: null,
} as const

test('an embedded session is live while everything that it depends on is', () => {
  expect(isEmbeddedSessionLive(alive, now, 5)).toBe(true)
  expect(embeddingFault(alive, now, 5)).toBeNull()
})

test.each([
  ['install_required', { installState: 'inactive' }],
  ['install_required', { installApproval: 'pending' }],
  ['install_required', { installApproval: 'rejected' }],
  ['install_required', { installApproval: 'withdrawn' }],
  ['install_required', { environment: 'development' }],
  ['app_inactive', { appStatus: 'suspended' }],
  ['invalid_grant', { userStatus: 'disabled' }],
  ['invalid_grant', { sessionEndedAt: now }],
  ['invalid_grant', { sessionExpiresAt: now }],
  ['invalid_grant', { sessionCreatedAt: now - 5_000 }],
  ['invalid_grant', { sessionLastUsedAt: now - 5_000 }],
] as const)('an embedded session has ended, and the fault is %s, with %p', (fault, change) => {
  expect(embeddingFault({ ...alive, ...change }, now, 5)).toBe(fault)
  expect(isEmbeddedSessionLive({ ...alive, ...change }, now, 5)).toBe(false)
})

test.each([{ appOwnerId: 'usr_1' }, { memberRole: 'developer' }] as const)(
  'an embedded session of what was not reviewed is live for people of the app, such as %p',
  (change) => {
    expect(isEmbeddedSessionLive({ ...alive, environment: 'development', ...change }, now, 5)).toBe(true)
  },
)

test.each([{ endedAt: now }, { expiresAt: now }] as const)(
  'an embedded session has ended with its own %p',
  (change) => {
    expect(isEmbeddedSessionLive({ ...alive, ...change }, now, 5)).toBe(false)
  },
)

test.each(['production', 'development'] as const)(
  'in %s it has the scopes that it was opened with, the owner agrees to and the current version asks for',
  (environment) => {
    const asked = environment === 'production' ? 'liveScopes' : 'headScopes'
    const before = { environment, agreedScopes: 'site:read store:read', liveScopes: null, headScopes: null }
    const openedWith = 'profile:read site:read store:read'
    expect(embeddedScopes(openedWith, { ...before, [asked]: 'profile:read store:read' })).toEqual(['store:read'])
    expect(embeddedScopes('profile:read', { ...before, [asked]: openedWith })).toEqual([])
    expect(embeddedScopes(openedWith, before)).toEqual([]) // without a version that can be opened, nothing is allowed
  },
)
