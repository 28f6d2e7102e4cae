import type { Platform } from '../../src/operations/platform.ts'

/** The platform with a clock that moves on by a millisecond with each reading, as a real one may between any two. */
export const withMovingClock = (platform: Platform): Platform => {
  let readings = 0
  return { ...platform, clock: { ...platform.clock, now: () => platform.clock.now() + (readings += 1) } }
}
