import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { searchApps } from '../../operations/apps/lists.ts'
import { AppStatusBadge } from '../design/badge.tsx'
import { SearchForm } from '../design/list-tools.tsx'
import { Older, Table } from '../design/table.tsx'
import { page } from '../page.ts'
import { parameterOf, readList } from '../query.ts'
import { requireOperator } from '../visit.ts'
import { AppLink, DeskPage, deskPaths } from './desk-page.tsx'

/** Every app, with a search. */
export const deskAppsRoutes = (door: Door) =>
  new Elysia().get(deskPaths.apps, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const part = parameterOf(visit, 'q')
    const place = { list: 'desk-apps', path: deskPaths.apps, query: { q: part } }
    const { rows, olderHref } = await readList(visit, place, (window) => searchApps(door.platform, part, window))
    return page(
      <DeskPage title="Apps" visit={visit} tab={deskPaths.apps}>
        <SearchForm path={deskPaths.apps} label="Name or slug" value={part} />
        <Table
          label="Apps"
          rows={rows}
          columns={{
            Slug: ({ slug }) => <AppLink slug={slug} />,
            Name: ({ name }) => <bdi>{name}</bdi>,
            Status: ({ status, deletedAt }) => <AppStatusBadge status={status} deletedAt={deletedAt} />,
            Owner: ({ ownerEmail }) => <bdi>{ownerEmail}</bdi>,
          }}
          empty={emptyWords(part, olderHref)}
        />
        <Older href={olderHref} name={rows.length === 0 ? 'Continue the search' : 'More apps'} />
      </DeskPage>,
    )
  })

/** A search reads a limited number of rows at a time, so it can find nothing in a part of the list. */
const emptyWords = (part: string, moreHref: string | null): string => {
  if (moreHref !== null) return 'No match so far.'
  return part === ''
    ? 'There are no apps yet. Developers create them in the console.'
    : 'No app has this in its name or slug.'
}
