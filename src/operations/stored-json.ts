/**
 * A value that the program itself wrote to the store as JSON. It is taken at its word and not checked again: only the type that
 * wrote a column reads it, and a change of that type comes with a migration of the rows.
 */
export const storedJson = <T>(text: string): T => JSON.parse(text)
