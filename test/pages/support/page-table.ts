import type { Platform } from '../../../src/operations/platform.ts'
import { pages } from '../../../src/pages/pages.ts'
import type { List, ListField } from '../../../src/pages/list.ts'
import { effects, type Effect } from '../../../src/pages/proof.ts'
import { doorOf, servedBy } from '../../http/support/door.ts'

type PageRoute = { readonly method: string; readonly pattern: string }

/** Every route for people, except those of assets and icons. */
export const pageTable = (platform: Platform): readonly PageRoute[] =>
  servedBy(pages, doorOf(platform))
    .routes.map(({ method, path }) => ({ method, pattern: path }))
    .filter(({ pattern }) => !/^\/(?:assets|icons)\//.test(pattern))

type DescribedList = Pick<List<string, Readonly<Record<string, ListField>>, string>, 'name' | 'fields'>

/** The lists that pages describe, by the pattern of the page. */
export const listTable = (platform: Platform): ReadonlyMap<string, DescribedList> =>
  new Map(
    servedBy(pages, doorOf(platform)).routes.flatMap(({ path, hooks }): [string, DescribedList][] => {
      const described: DescribedList | undefined = hooks.detail?.list
      return described === undefined ? [] : [[path, described]]
    }),
  )

/** The forms of the account, the console and the desk with what each does, as their routes say; null for one that says nothing. */
export const formTable = (
  platform: Platform,
): readonly { readonly pattern: string; readonly effect: Effect | null }[] =>
  servedBy(pages, doorOf(platform))
    .routes.filter(({ method, path }) => method === 'POST' && /^\/(account|console|desk)\//.test(path))
    .map(({ path, hooks }) => ({ pattern: path, effect: effectIn(hooks.detail?.effect) }))

const effectIn = (said: unknown): Effect | null => effectNames.find((name) => name === said) ?? null

const effectNames: readonly Effect[] = Object.keys(effects).filter((name): name is Effect =>
  Object.hasOwn(effects, name),
)
