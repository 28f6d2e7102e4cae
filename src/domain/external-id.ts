/** Whether the text can be the builder's own ID of a record: 1 to 128 visible ASCII characters, compared byte for byte. */
export const isExternalId = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text)
