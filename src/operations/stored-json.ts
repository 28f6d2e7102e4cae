/**
 * A value that this program stored as JSON. It is not validated again: a column is read as the type that it was written as,
 * and a change of that type comes with a migration of the rows.
 */
export const storedJson = <T>(text: string): T => JSON.parse(text)
