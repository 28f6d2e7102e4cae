/** A route as Elysia lists it. */
export type ListedRoute = { readonly method: string; readonly path: string }

/** The result of looking up a method and a path. */
export type RouteMatch<T> =
  | Found<T>
  | { readonly kind: 'method_not_allowed'; readonly allow: string; readonly pattern: string }
  | { readonly kind: 'not_found' }

type Found<T> = { readonly kind: 'found'; readonly route: T }

type Resource<T> = {
  readonly pattern: string
  readonly segments: readonly string[]
  readonly routes: Map<string, Found<T>>
  allow: string
}

/**
 * Finds routes before Elysia does, to tell 404 from 405 and to know the pattern. Paths are compared undecoded, so another
 * spelling (a trailing or doubled slash, an escaped letter) leads to no route.
 */
export const createRouter = <T>() => {
  const resources = new Map<string, Resource<T>>()
  const dynamic: Resource<T>[] = []
  const resourceAt = (path: string): Resource<T> => {
    const known = resources.get(path)
    if (known !== undefined) return known
    const resource = { pattern: path, segments: path.split('/'), routes: new Map<string, Found<T>>(), allow: '' }
    resources.set(path, resource)
    if (path.includes(':')) dynamic.push(resource)
    return resource
  }
  const findDynamic = (path: string): Resource<T> | undefined => {
    const segments = path.split('/')
    return dynamic.find((resource) => matches(resource.segments, segments))
  }

  return {
    add: (listed: readonly ListedRoute[], bind: (method: string, pattern: string) => T): void => {
      for (const { method, path } of listed) {
        const resource = resourceAt(path)
        resource.routes.set(method, { kind: 'found', route: bind(method, path) })
        resource.allow = allowOf([...resource.routes.keys()])
      }
    },
    find: (method: string, path: string): RouteMatch<T> => {
      const resource = resources.get(path) ?? findDynamic(path)
      if (resource === undefined) return { kind: 'not_found' }
      const { routes, allow, pattern } = resource
      // RFC 9110 section 9.3.2: HEAD is GET without the content.
      const found = routes.get(method) ?? (method === 'HEAD' ? routes.get('GET') : undefined)
      return found ?? { kind: 'method_not_allowed', allow, pattern }
    },
  }
}

/** The Allow header of a resource with these methods. */
export const allowOf = (methods: readonly string[]): string =>
  [...new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)].sort().join(', ')

const matches = (pattern: readonly string[], path: readonly string[]): boolean =>
  path.length === pattern.length &&
  pattern.every((segment, index) => {
    const given = path[index] ?? ''
    return segment.startsWith(':') ? isParameter(given) : segment === given
  })

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
