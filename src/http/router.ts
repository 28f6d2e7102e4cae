/** A route as Elysia lists it. */
export type ListedRoute = { readonly method: string; readonly path: string }

/** The result of looking up a method and a path. */
export type RouteMatch<T> =
  | { readonly kind: 'found'; readonly route: T }
  | { readonly kind: 'method_not_allowed'; readonly allow: string; readonly pattern: string }
  | { readonly kind: 'not_found' }

type Resource<T> = { readonly pattern: string; readonly routes: Map<string, T>; allow: string }
type Pattern<T> = { readonly segments: readonly string[]; readonly resource: Resource<T> }

type Router<T> = { find(method: string, path: string): RouteMatch<T> }

/**
 * Finds routes before Elysia does, to tell 404 from 405 and to know the pattern. Paths are compared undecoded, so another
 * spelling (a trailing or doubled slash, an escaped letter) leads to no route.
 */
export const createRouter = <T>(
  listed: readonly ListedRoute[],
  bind: (method: string, pattern: string) => T,
): Router<T> => {
  const resources = new Map<string, Resource<T>>()
  for (const { method, path } of listed) {
    const resource = resources.get(path) ?? { pattern: path, routes: new Map<string, T>(), allow: '' }
    resource.routes.set(method, bind(method, path))
    resource.allow = allowOf([...resource.routes.keys()])
    resources.set(path, resource)
  }
  const patterns = [...resources.values()].filter(({ pattern }) => isDynamic(pattern)).map(patternOf)

  const findResource = (path: string): Resource<T> | undefined => resources.get(path) ?? matchPattern(patterns, path)

  return {
    find: (method, path) => {
      const resource = findResource(path)
      if (resource === undefined) return { kind: 'not_found' }
      const route = routeFor(resource, method)
      return route === undefined
        ? { kind: 'method_not_allowed', allow: resource.allow, pattern: resource.pattern }
        : { kind: 'found', route }
    },
  }
}

/** RFC 9110 section 9.3.2: HEAD is GET without the content. */
const routeFor = <T>({ routes }: Resource<T>, method: string): T | undefined =>
  routes.get(method) ?? (method === 'HEAD' ? routes.get('GET') : undefined) ?? routes.get('ALL')

const allowOf = (methods: readonly string[]): string =>
  [...new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)].sort().join(', ')

const isDynamic = (pattern: string): boolean => pattern.includes(':') || pattern.endsWith('*')

const patternOf = <T>(resource: Resource<T>): Pattern<T> => ({ segments: resource.pattern.split('/'), resource })

const matchPattern = <T>(patterns: readonly Pattern<T>[], path: string): Resource<T> | undefined => {
  if (patterns.length === 0) return undefined
  const segments = path.split('/')
  return patterns.find((pattern) => matches(pattern.segments, segments))?.resource
}

const matches = (pattern: readonly string[], path: readonly string[]): boolean => {
  const open = pattern.at(-1) === '*'
  if (open ? path.length < pattern.length : path.length !== pattern.length) return false
  return pattern.every((segment, index) => {
    const given = path[index] ?? ''
    if (segment === '*') return true
    return segment.startsWith(':') ? isParameter(given) : segment === given
  })
}

/** A parameter is not empty, and its escapes make valid UTF-8. */
const isParameter = (segment: string): boolean => {
  if (segment === '') return false
  if (!segment.includes('%')) return true
  try {
    return decodeURIComponent(segment) !== ''
  } catch {
    return false
  }
}
