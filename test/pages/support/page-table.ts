import type { Platform } from '../../../src/operations/platform.ts'
import { pages } from '../../../src/pages/pages.ts'
import { doorOf } from '../../http/support/door.ts'

type PageRoute = { readonly method: string; readonly pattern: string }

/** Every route that the program has for people, but for the files that pages are made of. Nobody is let in through this one. */
export const pageTable = (platform: Platform): readonly PageRoute[] =>
  pages(doorOf(platform))
    .routes.map(({ method, path }) => ({ method, pattern: path }))
    .filter(({ pattern }) => !pattern.startsWith('/assets/'))
