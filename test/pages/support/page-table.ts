import type { Platform } from '../../../src/operations/platform.ts'
import { pages } from '../../../src/pages/pages.ts'
import type { List, ListField } from '../../../src/pages/list.ts'
import { doorOf } from '../../http/support/door.ts'

type PageRoute = { readonly method: string; readonly pattern: string }

/** Every route for people, except those of assets. */
export const pageTable = (platform: Platform): readonly PageRoute[] =>
  pages(doorOf(platform))
    .routes.map(({ method, path }) => ({ method, pattern: path }))
    .filter(({ pattern }) => !pattern.startsWith('/assets/'))

type DescribedList = Pick<List<string, Readonly<Record<string, ListField>>, string>, 'name' | 'fields'>

/** The lists that pages describe, by the pattern of the page. */
export const listTable = (platform: Platform): ReadonlyMap<string, DescribedList> =>
  new Map(
    pages(doorOf(platform)).routes.flatMap(({ path, hooks }): [string, DescribedList][] => {
      const described: DescribedList | undefined = hooks.detail?.list
      return described === undefined ? [] : [[path, described]]
    }),
  )
