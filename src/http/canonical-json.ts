const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const inOrder = (_: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value

/** One text for all spellings of the same JSON: neither spacing nor the order of keys matters, at any depth. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, inOrder)
