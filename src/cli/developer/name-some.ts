const most = 10

/** The first few of many: `a, b, c and 4 more`. */
export const nameSome = (names: readonly string[]): string =>
  names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`
