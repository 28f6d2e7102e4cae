/** Chance from the operating system's generator, nothing weaker. */
export type Random = {
  bytes(count: number): Uint8Array<ArrayBuffer>
  /** A UUIDv7 of that moment; each sorts after all that this process made before, also when the clock was set back. */
  uuid(nowMs: number): Uint8Array<ArrayBuffer>
  /**
   * The same as 32 hex digits, several times faster, for IDs whose order tells what came first: of requests, events of the audit
   * and rollbacks. After a `clock reset` they run ahead by `aheadMs`, so that they sort after the earlier ones.
   */
  uuidHex(nowMs: number): string
  readonly aheadMs: number
}

type Fill = (pool: Uint8Array<ArrayBuffer>) => void

const poolBytes = 16_384

/** One system call fills a pool for many callers. What was handed out is wiped, so that the pool never holds a live secret. */
const createBytePool = (fill: Fill) => {
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

/** Hex digits for IDs, which are no secrets, cut from one long string. */
const createHexPool = (fill: Fill) => {
  let digits = ''
  let used = 0
  return (count: number): string => {
    if (used + count > digits.length) {
      const pool = new Uint8Array(poolBytes)
      fill(pool)
      digits = pool.toHex()
      used = 0
    }
    used += count
    return digits.slice(used - count, used)
  }
}

/**
 * RFC 9562 section 6.2, method 1: the twelve bits after the time count up within a millisecond, from a random start in their
 * lower half; a millisecond that is used up borrows the next one.
 */
const createTicks = () => {
  const tick = { ms: 0, counter: 0, msHex: '' }
  const enter = (ms: number, chance: number) => {
    tick.ms = ms
    tick.msHex = ms.toString(16).padStart(12, '0')
    tick.counter = chance & 0x7ff
  }
  return (nowMs: number, chance: number) => {
    if (nowMs > tick.ms) enter(nowMs, chance)
    else if (tick.counter < 0xfff) tick.counter += 1
    else enter(tick.ms + 1, chance)
    return tick
  }
}

const variants = ['8', '9', 'a', 'b']

/** `aheadMs` is the lead of `uuidHex` (see there). */
export const createRandom = (fill: Fill = (pool) => void crypto.getRandomValues(pool), aheadMs: number = 0): Random => {
  const bytes = createBytePool(fill)
  const hex = createHexPool(fill)
  const nextTick = createTicks()
  const nextHexTick = aheadMs === 0 ? nextTick : createTicks()

  return {
    bytes,
    aheadMs,
    uuid: (nowMs) => {
      const uuid = bytes(16)
      const { ms, counter } = nextTick(nowMs, ((uuid[6] ?? 0) << 8) | (uuid[7] ?? 0))
      // Byte by byte: a DataView would make every array grow a buffer of its own, half a microsecond each.
      const high = Math.floor(ms / 0x1_0000)
      uuid[0] = high >>> 24
      uuid[1] = high >>> 16
      uuid[2] = high >>> 8
      uuid[3] = high
      uuid[4] = ms >>> 8
      uuid[5] = ms
      uuid[6] = 0x70 | (counter >>> 8)
      uuid[7] = counter
      uuid[8] = 0x80 | ((uuid[8] ?? 0) & 0x3f)
      return uuid
    },
    uuidHex: (nowMs) => {
      const chance = Number.parseInt(hex(4), 16)
      const { msHex, counter } = nextHexTick(nowMs + aheadMs, chance)
      const counterHex = (0x7000 | counter).toString(16)
      return `${msHex}${counterHex}${variants[chance & 3] ?? '8'}${hex(15)}`
    },
  }
}
