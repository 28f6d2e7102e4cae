import { shownIcon } from '../../domain/app-icon.ts'
import { countApps, type FoundApp, searchApps } from '../../operations/apps/lists.ts'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge } from '../design/badge.tsx'
import { EmptyState, FilterBar } from '../design/list-tools.tsx'
import { ListRows, Row } from '../design/row-list.tsx'
import { page, seeOther } from '../page.ts'
import { choice, list, listRoutes, order, search, timeOrders } from '../list.ts'
import type { Visit } from '../visit.ts'
import { deskAppPath, deskForm, DeskPage, deskPaths } from './desk-page.tsx'
import type { ScopeName } from '../../domain/scope.ts'
import { createApp } from '../../operations/apps/apps.ts'
import { email, line } from '../design/field.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { LinkButton } from '../design/form.tsx'
import { formOf, texts } from '../form.ts'
import { parameterOf } from '../query.ts'
import { slugHint } from '../words.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { routes } from '../change.tsx'

const deskApps = list('desk-apps', deskPaths.apps, {
  q: search('Name or slug'),
  status: choice('Status', [
    ['active', 'Active'],
    ['suspended', 'Suspended'],
    ['deleted', 'Deleted'],
  ]),
  sort: order([['slug', 'Slug'], ...timeOrders]),
})

/** Every app, with a search, and the form of a new one. */
export const deskAppsRoutes = routes(() => [listRoutes(deskApps, { by: 'operator', show }), newApp])

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskApps.read(visit)
  const { q: part, status, sort } = asked.values
  const apps = await asked.rows((window) => searchApps(platform, { part, status }, sort, window))
  return page(
    <DeskPage
      title="Apps"
      visit={visit}
      tab={deskPaths.apps}
      actions={<LinkButton href={deskPaths.newApp}>Create an app</LinkButton>}
    >
      <FilterBar of={asked} isShown={apps.rows.length > 0} />
      <ListRows
        label="Apps"
        of={apps}
        row={(app) => <AppRow app={app} />}
        empty={<EmptyState title="No apps yet">Developers create their apps. You can create one for them.</EmptyState>}
        total={await countApps(platform, { part, status })}
      />
    </DeskPage>,
  )
}

const AppRow = ({ app }: { readonly app: FoundApp }) => (
  <Row
    href={deskAppPath(app.slug)}
    avatar={<Avatar id={app.id} name={app.name} icon={shownIcon(app)} />}
    title={<bdi>{app.name}</bdi>}
    facts={[<code>{app.slug}</code>, <bdi>{app.ownerEmail}</bdi>]}
    badge={<AppStatusBadge status={app.status} deletedAt={app.deletedAt} />}
    time={['Created', app.createdAt]}
  />
)

/** The scope that nearly every app needs. */
const firstScope = 'profile:read' satisfies ScopeName

/** The form that registers an app for a user. */
const newApp = deskForm(deskPaths.newApp, {
  title: 'Create an app',
  tab: deskPaths.apps,
  effect: 'gives an app to somebody',
  form: formOf({
    owner: email('Owner’s email address', { hint: 'An active user. They manage the app under Developers.' }),
    name: line('Name', { hint: 'Users see this name when the app asks for their consent.' }),
    slug: line('Slug', { hint: slugHint, maxLength: 63, spellcheck: false }),
    scopes: texts,
  }),
  values: (visit) => ({ owner: parameterOf(visit, 'owner') }),
  more: async ({ door }) => <ScopeChoice catalogue={await readCatalogue(door.platform)} chosen={[firstScope]} />,
  button: 'Create the app',
  act: async ({ visit, fields: { owner, name, slug, scopes }, ticket }) => {
    const input = { ownerEmail: owner, name, slug, scopes: scopes.join(' ') }
    const app = await visit.asOperator({ ticket }).do(createApp, input)
    return seeOther(`${deskAppPath(app.slug)}?done=created`)
  },
})
