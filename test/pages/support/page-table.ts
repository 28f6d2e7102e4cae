import type { Platform } from '../../../src/operations/platform.ts'
import { pages } from '../../../src/pages/pages.ts'
import { doorOf } from '../../http/support/door.ts'

type PageRoute = { readonly method: string; readonly pattern: string }

/** Every route for people, except those of assets. */
export const pageTable = (platform: Platform): readonly PageRoute[] =>
  pages(doorOf(platform))
    .routes.map(({ method, path }) => ({ method, pattern: path }))
    .filter(({ pattern }) => !pattern.startsWith('/assets/'))
