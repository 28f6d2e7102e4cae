/** How many rounds are under way at once, and from which age on a round counts no longer: its server may hang. */
const mostUnderWay = 2
const slowMs = 20

/**
 * Does at the end of a turn of the event loop, together, what was asked for in it. While two rounds are under way, what is asked
 * for goes with the next one: the busier a server is, the more goes with one statement, and an idle one waits for nothing.
 */
export class Rounds {
  #isDue = false
  #underWay = 0
  #startedAt = 0

  /** `start` begins a round with what waits; null if nothing does. It must not reject. */
  constructor(private readonly start: () => Promise<unknown> | null) {}

  ask(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(this.#end)
  }

  /** Begins what may begin now. To be called now and then: a round that hangs does not end. */
  readonly begin = (): void => {
    for (;;) {
      const now = performance.now()
      if (this.#underWay >= mostUnderWay && now - this.#startedAt < slowMs) return
      const round = this.start()
      if (round === null) return
      this.#underWay += 1
      this.#startedAt = now
      void round.then(this.#ended)
    }
  }

  readonly #end = (): void => {
    this.#isDue = false
    this.begin()
  }

  readonly #ended = (): void => {
    this.#underWay -= 1
    this.begin()
  }
}

/** A list as PostgreSQL reads it from a text, of values as the statements have them: numbers, texts, bytes and null. */
export const listOf = (values: Iterable<unknown>): string => {
  let list = ''
  for (const value of values) list += list === '' ? itemOf(value) : `,${itemOf(value)}`
  return `{${list}}`
}

/** The values of several calls as such lists, one for each value of a call. */
export const listsOf = (calls: readonly (readonly unknown[])[]): string[] =>
  calls[0]?.map((_, index) => listOf(calls.map((values) => values[index]))) ?? []

const itemOf = (value: unknown): string => {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  if (value instanceof Uint8Array) return `"\\\\x${value.toHex()}"`
  const text = String(value)
  return special.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`
}
const special = /["\\]/
