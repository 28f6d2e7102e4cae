/**
 * The function, with the results of recent inputs kept: at most this many, and then all are dropped. Only for pure functions, and
 * never for anything that a revocation could change. `isKept` keeps out inputs of unbounded length.
 */
export const remembered = <Input, Result>(
  most: number,
  read: (input: Input) => Result,
  isKept: (result: Result, input: Input) => boolean = () => true,
): ((input: Input) => Result) => {
  const known = new Map<Input, Result>()
  return (input) => {
    const kept = known.get(input)
    if (kept !== undefined) return kept
    const result = read(input)
    if (isKept(result, input)) {
      if (known.size >= most) known.clear()
      known.set(input, result)
    }
    return result
  }
}

/** Makes a value at its first use, so that a start does not wait for what few calls need. */
export const lazily = <T>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => (made ??= make())
}
