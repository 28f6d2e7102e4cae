// Identifiers that other systems give, compared byte for byte. Only ASCII is taken: other texts can look alike, or become one text when
// they are stored.

const forms = {
  /** The builder's own ID of a record. It is a segment of paths, where one or two dots alone have a meaning of their own. */
  'external ID': /^(?!\.{1,2}$)[\x21-\x7e]{1,128}$/,
  /** A person at an identity provider (OpenID Connect Core section 2). It may have spaces, as names in a directory do. */
  subject: /^[\x20-\x7e]{1,255}$/,
  /** Names a try of a request. Several of them in one header would be separated by commas. */
  'idempotency key': /^[\x21-\x2b\x2d-\x7e](?:[\x20-\x2b\x2d-\x7e]{0,253}[\x21-\x2b\x2d-\x7e])?$/,
} as const

/** Whether a value of another system can be kept as such an identifier. */
export const isForeignId = (kind: keyof typeof forms, value: unknown): value is string =>
  typeof value === 'string' && forms[kind].test(value)
