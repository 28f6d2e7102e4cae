/** The list of a developer's own apps. */
export const consolePath = '/console'
/** Where an app is created; no app has this slug. */
export const newAppPath = '/console/new'

/** A page of an app. Versions have `+` in them, which a path may say in two ways: all is escaped that can be. */
export const appPath = (slug: string, ...rest: readonly string[]): string =>
  [consolePath, ...[slug, ...rest].map(encodeURIComponent)].join('/')
