import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { type AppSummary, searchApps } from '../../operations/apps/lists.ts'
import { AppStatusBadge } from '../components/badges.tsx'
import { SearchForm } from '../components/form.tsx'
import { Older, Table } from '../components/table.tsx'
import { page } from '../page.ts'
import { listPart, olderPath, parameterOf } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { deskAppPath, DeskPage, deskPaths } from './desk-page.tsx'

/** The name in its cursors. */
const list = 'desk-apps'

/** Every app, with a search. */
export const deskAppsRoutes = (door: Door) =>
  new Elysia().get(deskPaths.apps, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const part = parameterOf(visit, 'q')
    const { data, nextCursor } = await searchApps(door.platform, part, listPart(visit, list))
    const moreHref = olderPath(deskPaths.apps, list, nextCursor, part === '' ? {} : { q: part })
    return page(<DeskAppsPage visit={visit} part={part} apps={data} moreHref={moreHref} />)
  })

type DeskAppsPageProps = {
  readonly visit: Visit
  /** The text that was searched for. */
  readonly part: string
  readonly apps: readonly AppSummary[]
  readonly moreHref: string | null
}

const DeskAppsPage = ({ visit, part, apps, moreHref }: DeskAppsPageProps) => (
  <DeskPage title="Apps" visit={visit} tab={deskPaths.apps}>
    <SearchForm path={deskPaths.apps} name="q" label="Name or slug" value={part} maxLength={254} button="Search" />
    {apps.length === 0 ? <p class="muted">{emptyWords(part, moreHref)}</p> : <AppTable apps={apps} />}
    <Older href={moreHref} name={apps.length === 0 ? 'Continue the search' : 'More apps'} />
  </DeskPage>
)

/** A search reads a limited number of rows at a time, so it can find nothing in a part of the list. */
const emptyWords = (part: string, moreHref: string | null): string => {
  if (moreHref !== null) return 'No match so far.'
  return part === ''
    ? 'There are no apps yet. Developers create them in the console.'
    : 'No app has this in its name or slug.'
}

const AppTable = ({ apps }: { readonly apps: readonly AppSummary[] }) => (
  <Table label="Apps" columns={['Slug', 'Name', 'Status', 'Owner']}>
    {apps.map(({ slug, name, status, deletedAt, ownerEmail }) => (
      <tr key={slug}>
        <td>
          <a href={deskAppPath(slug)}>
            <code>{slug}</code>
          </a>
        </td>
        <td>
          <bdi>{name}</bdi>
        </td>
        <td>
          <AppStatusBadge status={status} deletedAt={deletedAt} />
        </td>
        <td>
          <bdi>{ownerEmail}</bdi>
        </td>
      </tr>
    ))}
  </Table>
)
