/**
 * A value, or a promise of it. On SQLite the hot reads give the value itself, because each extra `await` costs about 2 % of a
 * short answer; another engine gives a promise. `await` takes both.
 */
export type Awaitable<T> = T | Promise<T>

/** The same value or promise. If the promise is not awaited after all, its error is not reported as unhandled. */
export const handled = <T>(value: Awaitable<T>): Awaitable<T> => {
  if (value instanceof Promise) value.catch(ignored)
  return value
}
const ignored = (): void => undefined

/** Applies a step to a value: at once if it is there, else when its promise resolves. */
export const andThen = <T, U>(value: Awaitable<T>, step: (value: T) => Awaitable<U>): Awaitable<U> =>
  value instanceof Promise ? value.then(step) : step(value)

/** Lets other requests and signals have their turn, in the middle of long work. */
export const turn = async (): Promise<void> => await new Promise((resolve) => void setImmediate(resolve))

/** Does work that yields now and then, with a turn for others each time. */
export const inTurns = async <T>(work: Generator<undefined, T>): Promise<T> => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    await turn()
  }
}

/** Does the same work at once. */
export const atOnce = <T>(work: Generator<undefined, T>): T => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
