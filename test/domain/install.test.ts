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

test('its owner withdraws what waits, deactivates what works, and can do nothing about what is over', () => {
  expect(endingStep({ approval: 'pending', state: 'inactive' })).toBe('withdraw')
  expect(endingStep({ approval: 'approved', state: 'active' })).toBe('deactivate')
  for (const approval of ['approved', 'rejected', 'withdrawn'] as const) {
    expect(endingStep({ approval, state: 'inactive' })).toBeNull()
  }
})

test('nothing leads out of what is over', () => {
  const starts = Object.values(installSteps).map(({ from }) => `${from.approval} ${from.state}`)
  expect(new Set(starts)).toEqual(new Set(['pending inactive', 'approved active']))
})
