/** The address in lower case, as it is stored and compared; null when it is not one. */
export const normalizeEmail = (text: string): string | null => {
  if (text.length > 254 || !/^[\x21-\x7e]+$/.test(text)) return null
  return /^[^@\s"(),:;<>[\\\]]{1,64}@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/.test(text)
    ? text.toLowerCase()
    : null
}
