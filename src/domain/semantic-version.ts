const number = '(?:0|[1-9]\\d*)'
const identifier = `(?:${number}|\\d*[A-Za-z-][0-9A-Za-z-]*)`
const build = '[0-9A-Za-z-]+'
/** SemVer 2.0.0: numbers without leading zeros, then optional pre-release and build identifiers. Nothing is counted. */
const form = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-${identifier}(?:\\.${identifier})*)?(?:\\+${build}(?:\\.${build})*)?$`,
)
const maximumLength = 64

/** At most 64 characters (contract section 3), so that no text makes the search long. */
export const isSemanticVersion = (text: string): boolean => text.length <= maximumLength && form.test(text)
