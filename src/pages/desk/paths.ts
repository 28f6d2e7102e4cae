/** Where the pages of the desk are. */
export const deskPaths = {
  desk: '/desk',
  reviews: '/desk/reviews',
  installs: '/desk/installs',
  apps: '/desk/apps',
  users: '/desk/users',
  newUser: '/desk/users/new',
  audit: '/desk/audit',
  health: '/desk/health',
} as const

/** A version's review, or one of the pages and forms below it. */
export const reviewPath = (slug: string, version: string, ...rest: readonly string[]): string =>
  [deskPaths.reviews, slug, encodeURIComponent(version), ...rest].join('/')
export const installPath = (id: string, step: string): string => `${deskPaths.installs}/${id}/${step}`
export const appPath = (slug: string, ...rest: readonly string[]): string => [deskPaths.apps, slug, ...rest].join('/')
export const userPath = (id: string, ...rest: readonly string[]): string => [deskPaths.users, id, ...rest].join('/')
/** The audit, asked for these facts. */
export const auditPath = (query: Readonly<Record<string, string>>): string =>
  `${deskPaths.audit}?${new URLSearchParams(query).toString()}`
