import { expect, test } from 'bun:test'
import { endingStep, installSteps, isInstallLive } from '../../src/domain/install.ts'

test('an install is live only when it is approved and active', () => {
  expect(isInstallLive({ approval: 'approved', state: 'active' })).toBe(true)
  expect(isInstallLive({ approval: 'approved', state: 'inactive' })).toBe(false)
  for (const approval of ['pending', 'rejected', 'withdrawn'] as const) {
    expect(isInstallLive({ approval, state: 'inactive' })).toBe(false)
    expect(isInstallLive({ approval, state: 'active' })).toBe(false)
  }
})

test('its owner withdraws a pending install, deactivates an active one, and cannot change one that has ended', () => {
  expect(endingStep({ approval: 'pending', state: 'inactive' })).toBe('withdraw')
  expect(endingStep({ approval: 'approved', state: 'active' })).toBe('deactivate')
  for (const approval of ['approved', 'rejected', 'withdrawn'] as const) {
    expect(endingStep({ approval, state: 'inactive' })).toBeNull()
  }
})

test('no step starts from an install that has ended', () => {
  const starts = Object.values(installSteps).map(({ from }) => `${from.approval} ${from.state}`)
  expect(new Set(starts)).toEqual(new Set(['pending inactive', 'approved active']))
})
