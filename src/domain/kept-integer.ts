/**
 * Whether a number, as JSON writes it, comes back with the digits that were sent: an integer beyond 2^53 need not, since a
 * double has not room for all of them (RFC 8259 section 6). What has a point or an exponent is meant as a double.
 */
export const isKeptInteger = (literal: string): boolean =>
  !longInteger.test(literal) || String(Number(literal)) === literal

/** 2^53 has 16 digits. */
const longInteger = /^-?\d{16,}$/
