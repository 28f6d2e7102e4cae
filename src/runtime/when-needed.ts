/**
 * Makes something at its first use, once for all who ask meanwhile. What could not be made, as when no file descriptor is free for a module,
 * is tried again at the next use.
 */
export const whenNeeded = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | null = null
  return async () => {
    made ??= make()
    try {
      return await made
    } catch (error) {
      made = null
      throw error
    }
  }
}
