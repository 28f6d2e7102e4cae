import type { Platform } from '../../../src/operations/platform.ts'

/** The platform some minutes ago, for sessions that began then. */
export const earlier = (platform: Platform, minutes: number): Platform => ({
  ...platform,
  clock: { ...platform.clock, now: () => platform.clock.now() - minutes * 60_000 },
  random: { ...platform.random, uuid: uuidAt }, // the platform's own never goes back
})

const uuidAt = (at: number): Uint8Array<ArrayBuffer> => {
  const uuid = crypto.getRandomValues(new Uint8Array(16))
  new DataView(uuid.buffer).setBigUint64(0, (BigInt(at) << 16n) | 0x7000n)
  return uuid
}
