/** SemVer 2.0.0: numbers without leading zeros, then optional pre-release and build parts. */
const form =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

/** At most 64 characters (contract section 3). */
export const isSemanticVersion = (text: string): boolean => text.length <= 64 && form.test(text)
