import { soughtPart } from '../../domain/entered-name.ts'
import { mayCreateApps, refusalNow } from '../../operations/acting-as.ts'
import { listOwnApps, type OwnAppSummary } from '../../operations/apps/lists.ts'
import { listAttention } from '../../operations/counts/counts.ts'
import { pageInMemory } from '../../operations/page.ts'
import { attentionFilter, groupOf } from '../dashboard.tsx'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge } from '../design/badge.tsx'
import { EmptyState, FilterBar, isLong } from '../design/list-tools.tsx'
import { ListRows, Row } from '../design/row-list.tsx'
import { Layout } from '../design/shell.tsx'
import { page, seeOther } from '../page.ts'
import { choice, list, listRoutes, order, search, timeOrders } from '../list.ts'
import type { Visit } from '../visit.ts'
import { offerWords, slugHint } from '../words.ts'
import { consoleAppPath, consolePath, newAppPath, yourApps } from './app-area.tsx'
import { createApp } from '../../operations/apps/apps.ts'
import { formPage, routes } from '../change.tsx'
import { Type } from '@sinclair/typebox'
import { Fields, line } from '../design/field.tsx'
import { Form, SendButton } from '../design/form.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { formOf, texts } from '../form.ts'
import { publisherHint } from './settings.tsx'
import { readCatalogue } from '../../operations/scopes/scopes.ts'

const notices = {
  left: 'You are no longer a member of that app.',
  deleted: 'The app is deleted. An operator can restore it for 7 days.',
} as const

const ownApps = list('own-apps', consolePath, {
  q: search('Name or slug'),
  status: choice('Status', [
    ['active', 'Active'],
    ['suspended', 'Suspended'],
  ]),
  needs: choice('Needs attention', attentionFilter),
  sort: order([['name', 'Name'], ...timeOrders]),
})

/** The list of a developer's own apps. It is short, so it is filtered and sorted in memory. */
export const ownAppsRoutes = routes(() => [listRoutes(ownApps, { by: 'user', show }), newApp])

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = ownApps.read(visit)
  const { q, status, needs, sort } = asked.values
  const part = soughtPart(q).toLowerCase()
  const all = await listOwnApps(platform, visit.userId)
  const attention = needs === null ? [] : await listAttention(platform, { memberId: visit.userId })
  const needing = new Set(attention.filter((item) => groupOf(item) === needs).map(({ appId }) => appId))
  const found = all
    .filter((app) => hasPart(app, part) && (status === null || app.status === status))
    .filter(({ id }) => needs === null || needing.has(id))
    .toSorted(comparisons[sort])
  const mayCreate = (await refusalNow(platform, visit.userId, mayCreateApps(platform))) === null
  const apps = await asked.rows(async (window) => pageInMemory(found, window, ({ slug }) => slug))
  return page(
    <Layout
      title="Your apps"
      belongsTo="Developers"
      visit={visit}
      section="console"
      notices={notices}
      about={`${all.filter(({ isPublisher }) => isPublisher).length} of ${platform.quotas.apps} apps`}
      actions={
        mayCreate ? (
          <a href={newAppPath} class="button primary">
            Create an app
          </a>
        ) : undefined
      }
    >
      <FilterBar of={asked} isShown={isLong({ rows: all })} />
      <ListRows
        label="Your apps"
        of={apps}
        row={(app) => <OwnAppRow app={app} />}
        empty={<NoApps />}
        total={found.length}
      />
    </Layout>,
  )
}

const hasPart = ({ name, slug }: OwnAppSummary, part: string): boolean =>
  name.toLowerCase().includes(part) || slug.includes(part)

const comparisons = {
  name: (a: OwnAppSummary, b: OwnAppSummary) =>
    a.name.localeCompare(b.name, 'en', { numeric: true }) || (a.slug < b.slug ? -1 : 1),
  newest: (a: OwnAppSummary, b: OwnAppSummary) => b.createdAt - a.createdAt || (a.slug < b.slug ? -1 : 1),
  oldest: (a: OwnAppSummary, b: OwnAppSummary) => a.createdAt - b.createdAt || (a.slug < b.slug ? -1 : 1),
} as const

const NoApps = () => (
  <EmptyState title="You have no apps yet">
    An app has its own client IDs and secrets, asks users for consent, and is released in versions. Registering an app
    and making its first call takes a minute.
  </EmptyState>
)

const OwnAppRow = ({ app }: { readonly app: OwnAppSummary }) => (
  <Row
    href={consoleAppPath(app.slug)}
    avatar={<Avatar id={app.id} name={app.name} icon={app.icon} />}
    title={<bdi>{app.name}</bdi>}
    badge={<AppStatusBadge status={app.status} />}
    facts={[
      <code>{app.slug}</code>,
      app.isPublisher ? null : `You are ${offerWords[app.role]}`,
      app.live === null ? 'Nothing live yet' : `Live: ${app.live}`,
      app.developmentHead === null ? null : `Development head: ${app.developmentHead}`,
    ]}
    time={['Created', app.createdAt]}
  />
)

const newAppForm = formOf({
  name: line('Name', {
    hint: 'Users see this name when the app asks for their consent. You can change it until the first version is approved.',
  }),
  publisher: Type.Optional(line('Publisher', { hint: publisherHint, required: false })),
  slug: line('Slug', { hint: slugHint, maxLength: 63, spellcheck: false }),
  scopes: texts,
})

/** The form that registers an app. Every signed-in person may, up to the quota. */
const newApp = formPage(newAppPath, {
  by: 'user',
  effect: 'makes an empty app',
  form: newAppForm,
  show: async (visit) => {
    const refusal = await refusalNow(visit.door.platform, visit.userId, mayCreateApps(visit.door.platform))
    const frame = {
      title: 'Create an app',
      belongsTo: 'Developers',
      visit,
      section: 'console',
      crumbs: [yourApps],
    } as const
    if (refusal !== null) return page(<Layout {...frame}>{refusal.message}</Layout>)
    return page(
      <Layout {...frame}>
        <div class="console">
          <Form action={newAppPath} visit={visit}>
            <Fields of={newAppForm} />
            {/* Nearly every app that people sign in to asks who they are. */}
            <ScopeChoice catalogue={await readCatalogue(visit.door.platform)} chosen={['profile:read']} />
            <p class="muted">Choose what you need now. You can add and withdraw scopes later.</p>
            <SendButton>Create the app</SendButton>
          </Form>
        </div>
      </Layout>,
    )
  },
  act: async ({ visit, fields: { name, publisher, slug, scopes }, ticket }) => {
    const input = { ownerId: visit.userId, name, publisher, slug, scopes: scopes.join(' ') }
    const app = await visit.as(mayCreateApps(visit.door.platform), ticket).do(createApp, input)
    return seeOther(`${consoleAppPath(app.slug)}?done=app`)
  },
  again: async ({ visit, fields: { slug } }) =>
    (await listOwnApps(visit.door.platform, visit.userId)).some((app) => app.slug === slug)
      ? { message: createdBefore, href: consoleAppPath(slug), name: 'Go to the app' }
      : { message: refusedBefore, href: newAppPath, name: 'Open a new form' },
})

const createdBefore = 'This form was sent before and has registered your app. Nothing was done a second time.'
const refusedBefore =
  'This form was sent before and has registered nothing. Each form can be sent once, so open a new one.'
