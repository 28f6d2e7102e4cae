/** What came of a transaction's body, and how to answer it once it is durable. */
export type Outcome = { kind: 'done'; answer: () => void } | { kind: 'failed'; error: unknown } | { kind: 'overdue' }

/** One turn of the event loop: whatever has not settled when the next one begins was waiting for the outside world. */
export class Turn {
  #overdue: (() => void) | null = null
  readonly #timer = setImmediate(() => this.#overdue?.())

  run(answer: Promise<() => void>): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#overdue = () => resolve({ kind: 'overdue' })
      answer.then(
        (answer) => resolve({ kind: 'done', answer }),
        (error: unknown) => resolve({ kind: 'failed', error }),
      )
    })
  }

  end(): void {
    clearImmediate(this.#timer)
  }
}
