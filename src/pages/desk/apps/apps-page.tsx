import type { AppSummary } from '../../../operations/apps/lists.ts'
import { AppStatusBadge } from '../../components/badges.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { Older, Table } from '../../components/table.tsx'
import { appPath, deskPaths } from '../paths.ts'
import { SearchForm } from '../../components/form.tsx'

type AppsPageProps = {
  readonly visit: Visit
  readonly part: string
  readonly apps: readonly AppSummary[]
  readonly moreHref: string | null
}

export const AppsPage = ({ visit, part, apps, moreHref }: AppsPageProps) => (
  <DeskPage title="Apps" visit={visit} tab={deskPaths.apps}>
    <SearchForm path={deskPaths.apps} name="q" label="Name or slug" value={part} maxLength={254} button="Search" />
    {apps.length === 0 ? <p class="muted">{emptyWords(part, moreHref)}</p> : <AppTable apps={apps} />}
    <Older href={moreHref} name={apps.length === 0 ? 'Search on' : 'More apps'} />
  </DeskPage>
)

const emptyWords = (part: string, moreHref: string | null): string => {
  if (moreHref !== null) return 'Nothing found among the first ones.'
  return part === ''
    ? 'There are no apps yet. Developers create them in their console.'
    : 'No app has this in its name or slug.'
}

const AppTable = ({ apps }: { readonly apps: readonly AppSummary[] }) => (
  <Table label="Apps" columns={['Slug', 'Name', 'Status', 'Owner']}>
    {apps.map(({ slug, name, status, deletedAt, ownerEmail }) => (
      <tr key={slug}>
        <td>
          <a href={appPath(slug)}>
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
