/** Makes a value at its first use, so that a start does not wait for what few calls need. */
export const lazily = <T>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => (made ??= make())
}
