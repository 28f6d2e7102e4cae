/** Chance from the operating system's generator, nothing weaker. */
export type Random = {
  bytes(count: number): Uint8Array<ArrayBuffer>
  /** A UUIDv7 of that moment; each sorts after all that this process made before, also when the clock was set back. */
  uuid(nowMs: number): Uint8Array<ArrayBuffer>
}

const poolBytes = 16_384

/** One system call fills a pool for many callers. What was handed out is wiped, so that the pool never holds a live secret. */
const pooled = (fill: (pool: Uint8Array<ArrayBuffer>) => void) => {
  const pool = new Uint8Array(poolBytes)
  let used = poolBytes
  return (count: number): Uint8Array<ArrayBuffer> => {
    if (count > poolBytes) throw new RangeError('At most 16 KiB of chance at once.')
    if (used + count > poolBytes) {
      fill(pool)
      used = 0
    }
    const taken = pool.slice(used, used + count)
    pool.fill(0, used, used + count)
    used += count
    return taken
  }
}

export const createRandom = (
  fill: (pool: Uint8Array<ArrayBuffer>) => void = (pool) => void crypto.getRandomValues(pool),
): Random => {
  const bytes = pooled(fill)
  let lastMs = 0
  let counter = 0

  // RFC 9562 section 6.2, method 1: the twelve bits after the time count up within a millisecond, from a random start
  // in their lower half; a millisecond that is used up borrows the next one.
  const tick = (nowMs: number, chance: number) => {
    if (nowMs > lastMs) {
      lastMs = nowMs
      counter = chance & 0x7ff
      return
    }
    counter += 1
    if (counter <= 0xfff) return
    lastMs += 1
    counter = chance & 0x7ff
  }

  return {
    bytes,
    uuid: (nowMs) => {
      const uuid = bytes(16)
      const view = new DataView(uuid.buffer)
      tick(nowMs, view.getUint16(6))
      view.setUint16(0, Math.floor(lastMs / 0x1_0000_0000))
      view.setUint32(2, lastMs % 0x1_0000_0000)
      view.setUint16(6, 0x7000 | counter)
      view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f))
      return uuid
    },
  }
}
