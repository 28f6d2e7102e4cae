import type { Queries } from '../../../db/database.ts'
import { parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

/** An app that can be installed: who publishes it, and exactly what its live version may do. */
export type OfferedApp = {
  readonly slug: string
  readonly name: string
  readonly publisher: string
  readonly version: string
  readonly scopes: readonly ScopeName[]
}

/** Active apps that have a live version, by slug. */
export const listOfferedApps = async (
  platform: Platform,
  { limit, cursor }: PageRequest,
): Promise<Page<OfferedApp>> => {
  const rows = await platform.database.queries.apps.offered(cursor ?? '', limit + 1)
  return pageOf(rows.map(offeredApp), limit, ({ slug }) => slug)
}

type Row = Awaited<ReturnType<Queries['apps']['offered']>>[number]

const offeredApp = ({ slug, name, publisher, version, scopes }: Row): OfferedApp => ({
  slug,
  name,
  publisher,
  version,
  scopes: parseStoredScope(scopes),
})
