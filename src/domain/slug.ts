/** 1 to 63 of a-z, 0-9 and inner hyphens, like a host name's label. */
export const isSlug = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
