import type { AreaNavigation } from './design/shell.tsx'
import type { Visit } from './visit.ts'

/** A part of the site with pages of its own. */
export type Area = {
  readonly key: 'account' | 'console' | 'desk'
  /** Its pages. In the console they belong to the app with this slug. @throws route_not_found */
  readonly navigation: (visit: Visit, slug: string) => Promise<AreaNavigation>
}

/** The navigation around a page below `path`. The nearest page above is the current one. @throws route_not_found */
export const navigationAbove = async (area: Area, visit: Visit, slug: string, path: string) => {
  const { links, ...navigation } = await area.navigation(visit, slug)
  const above = links.filter((link) => path === link.path || path.startsWith(`${link.path}/`))
  const [nearest] = above.toSorted((one, other) => other.path.length - one.path.length)
  return { ...navigation, links, current: nearest?.path ?? '' }
}
