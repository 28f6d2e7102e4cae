import { base62Codes } from '../domain/base62.ts'
import { nextTimeKey, type TimeKey, timeKeyAt } from '../domain/time-key.ts'

/** Randomness from the operating system's generator. */
export type Random = ReturnType<typeof createRandom>

type Fill = (pool: Uint8Array<ArrayBuffer>) => void

const poolBytes = 16_384

/** One system call fills a pool for many callers. Bytes are wiped once they were taken, so that the pool holds no live secret. */
const createBytePool = (fill: Fill) => {
  const pool = new Uint8Array(poolBytes)
  let used = poolBytes
  return (count: number): Uint8Array<ArrayBuffer> => {
    if (count > poolBytes) throw new RangeError('At most 16 KiB of random bytes at once.')
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

/**
 * Base62 digits for secrets. A byte gives the digit of its lower six bits; the two values that stand for no digit are
 * skipped, since a remainder would make some digits more likely. What was handed out is wiped here as well.
 */
const createDigitPool = (fill: Fill) => {
  const pool = Buffer.alloc(poolBytes)
  let filled = 0
  let used = 0
  const refill = () => {
    const chance = new Uint8Array(poolBytes)
    fill(chance)
    filled = 0
    used = 0
    for (let index = 0; index < poolBytes; index += 1) {
      const code = base62Codes[(chance[index] ?? 0) & 0x3f]
      if (code !== undefined) pool[filled++] = code
    }
    chance.fill(0)
  }
  return (count: number): string => {
    if (count > poolBytes / 2) throw new RangeError('At most 8,192 random digits at once.')
    if (used + count > filled) refill()
    if (count > filled) throw new Error('The generator gave too few bytes that stand for digits.')
    const taken = pool.toString('latin1', used, used + count)
    pool.fill(0, used, used + count)
    used += count
    return taken
  }
}

const tailBytes = 8
const tailDigits = 2 * tailBytes

/**
 * The last 16 hex digits of UUIDs, which are not secret, cut from one long string. Each begins with the variant (RFC 9562
 * section 4.1).
 */
const createTailPool = (fill: Fill) => {
  let digits = ''
  let used = 0
  return (): string => {
    if (used === digits.length) {
      const pool = new Uint8Array(poolBytes)
      fill(pool)
      for (let first = 0; first < poolBytes; first += tailBytes) pool[first] = 0x80 | ((pool[first] ?? 0) & 0x3f)
      digits = pool.toHex()
      used = 0
    }
    used += tailDigits
    return digits.slice(used - tailDigits, used)
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
  return (nowMs: number, chance: () => number) => {
    if (nowMs > tick.ms) enter(nowMs, chance())
    else if (tick.counter < 0xfff) tick.counter += 1
    else enter(tick.ms + 1, chance())
    return tick
  }
}

type RandomOptions = {
  readonly fill?: Fill
  /** The lead of `uuidHex` (see there). */
  readonly aheadMs?: number
  /** Which server of the database this is, from 0 to 31. SQLite has one server; each of several has a node of its own. */
  readonly node?: number
  /** A key that all later ones are higher than: the highest one that an earlier process left in the store. */
  readonly lastKey?: TimeKey
}

const fillFromSystem: Fill = (pool) => void crypto.getRandomValues(pool)

export const createRandom = ({
  fill = fillFromSystem,
  aheadMs = 0,
  node = 0,
  lastKey = timeKeyAt(0),
}: RandomOptions = {}) => {
  const bytes = createBytePool(fill)
  const digits = createDigitPool(fill)
  const hexTail = createTailPool(fill)
  const nextTick = createTicks()
  const nextHexTick = aheadMs === 0 ? nextTick : createTicks()
  const drawHexCounter = () => Number.parseInt(hexTail().slice(-3), 16)
  let key = lastKey

  return {
    bytes,
    /** Random base62 digits, each as likely as every other. */
    digits,
    /** A key of that moment, higher than every one before from this process, also when the clock was set back. */
    timeKey: (nowMs: number): TimeKey => (key = nextTimeKey(key, nowMs, node)),
    /** A UUIDv7 of that moment. It sorts after all earlier ones of this process, even if the clock was set back. */
    uuid: (nowMs: number): Uint8Array<ArrayBuffer> => {
      const uuid = bytes(16)
      const { ms, counter } = nextTick(nowMs, () => ((uuid[6] ?? 0) << 8) | (uuid[7] ?? 0))
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
    /**
     * The same as 32 hex digits, several times faster, for IDs whose order tells what came first: of requests, events of the
     * audit and rollbacks. After a `clock reset` they run ahead by `aheadMs`, so that they sort after the earlier ones.
     */
    uuidHex: (nowMs: number): string => {
      const { msHex, counter } = nextHexTick(nowMs + aheadMs, drawHexCounter)
      return msHex + (0x7000 | counter).toString(16) + hexTail()
    },
    aheadMs,
  }
}
