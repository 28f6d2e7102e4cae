/** The code of an error of the system, such as ENOENT; undefined for another error. */
export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

/** Whether it is an error of the system with one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.some((code) => code === codeOf(error))
