import { renderToString } from 'preact-render-to-string'
import { refuse } from '../../domain/errors.ts'
import { callOf } from '../../http/call.ts'
import { endpointRoutes } from '../../http/app.ts'
import { endpointsOf } from '../../http/table.ts'
import { type ApiDocument, apiDocumentOf, apiDocuments } from '../../http/docs.ts'
import type { Routes } from '../change.tsx'
import { isJsonObject } from '../../http/openapi-schema.ts'
import { type GuideApps, listGuideApps } from '../../operations/apps/lists.ts'
import { FilterBar } from '../design/list-tools.tsx'
import { Layout } from '../design/shell.tsx'
import { LinkButton, MainLink } from '../design/form.tsx'
import { describes, list, oneOf, search } from '../list.ts'
import { page } from '../page.ts'
import { docsMarkup, Turn } from './docs-frame.tsx'
import { parameterOf } from '../query.ts'
import { findVisit } from '../visit.ts'
import type { sectionsOf } from './search.tsx'

const path = '/docs/guides'
const longestSearch = 100
const guideSearch = list('guides', path, { q: search('Search all guides', { maxLength: longestSearch }) })

/** A guide whose examples work on this server. The guides call a server https://apps.example.com. */
const withAddress = (text: string, publicUrl: string): string =>
  text
    .replaceAll('https://apps.example.com', () => publicUrl)
    .replaceAll(encodeURIComponent('https://apps.example.com'), () => encodeURIComponent(publicUrl))

/** A stand-in for the client ID, and the name that it has in programs. */
const placeholder = 'apc_dev_…'
const usesClientId = (text: string): boolean => text.includes(placeholder) || /\bCLIENT_ID\b/.test(text)

/** The guides, for everybody, with the address of this server. Signed-in developers see a client ID of their own in the examples. */
export const guideRoutes: Routes = (app, door) => {
  let sections: ReturnType<typeof sectionsOf> | null = null
  const found = async (asked: string) => {
    const [{ guideAreas }, { SearchResults, sectionsOf }] = await Promise.all([
      import('../../guides/index.ts'),
      import('./search.tsx'),
    ])
    // Made at the first search and kept, because the guides do not change.
    sections ??= sectionsOf(
      guideAreas.flatMap((area) =>
        area.guides.map(({ topic, title, text }) => ({
          title,
          href: `${path}/${topic}`,
          text: area === guideAreas[0] ? text : withAddress(text, door.platform.publicUrl),
        })),
      ),
    )
    return <SearchResults sections={sections} asked={asked} />
  }
  const references = new Map<string, Promise<string>>()
  const referenceOf = async (document: ApiDocument): Promise<string> => {
    const { referenceMarkup } = await import('./reference.tsx')
    const { routes } = endpointRoutes(door, endpointsOf(door))
    const read: unknown = JSON.parse(await apiDocumentOf(routes, door.platform.publicUrl, document))
    return isJsonObject(read) ? await referenceMarkup(read, document.page) : ''
  }
  const showReference = async (request: Request, key: keyof typeof apiDocuments) => {
    const document = apiDocuments[key]
    const markup = references.get(key) ?? referenceOf(document)
    references.set(key, markup) // kept: the document does not change while the server runs
    markup.catch(() => references.delete(key)) // but a failure is not kept
    const visit = await reader(request)
    return page(
      <Layout title={document.title} belongsTo="API reference" visit={visit} actions={<ReferenceLinks of={key} />}>
        <div class="docs" dangerouslySetInnerHTML={{ __html: await markup }} />
      </Layout>,
    )
  }
  const bodies = new Map<string, string>()
  /** A guide as markup. Made when it is first read and kept: the guides and the address of the server do not change while it runs. */
  const bodyOf = async (topic: string, text: string): Promise<string> => {
    const { Contents, Markdown } = await import('./markdown.tsx')
    const body =
      bodies.get(topic) ??
      renderToString(
        <>
          <Contents text={text} />
          <Markdown text={text} />
        </>,
      )
    bodies.set(topic, body)
    return body
  }
  const reader = async (request: Request) => (await findVisit(door, request)) ?? door.platform
  app
    .get(apiDocuments.apps.reference, async ({ request }) => await showReference(request, 'apps'))
    .get(apiDocuments.builder.reference, async ({ request }) => await showReference(request, 'builder'))
    .get(
      path,
      async ({ request }) => {
        const asked = guideSearch.read({ call: callOf(request) })
        const sought = asked.values.q.slice(0, longestSearch)
        const visit = await reader(request)
        const { guideAreas } = await import('../../guides/index.ts') // imported at first use: most servers are never asked
        const results = sought === '' ? null : await found(sought)
        return page(
          <Layout
            title="Guides"
            about="How to run this platform, build apps for it, and connect it to a website builder."
            actions={<LinkButton href={apiDocuments.apps.reference}>API reference</LinkButton>}
            visit={visit}
          >
            <FilterBar of={asked} />
            {results ?? (
              <div class="guide-areas">
                {guideAreas.map(({ name, guides }) => (
                  <section>
                    <h2>{name}</h2>
                    <ul>
                      {guides.map(({ topic, title }) => (
                        <li>
                          <a href={`${path}/${topic}`}>{title}</a>
                        </li>
                      ))}
                    </ul>
                  </section>
                ))}
              </div>
            )}
          </Layout>,
        )
      },
      describes(guideSearch),
    )
    .get(`${path}/:topic`, async ({ request, params: { topic } }) => {
      const visit = await reader(request)
      const { findGuide, guideAreas } = await import('../../guides/index.ts')
      const guide = findGuide(topic)
      if (guide === null) throw refuse('route_not_found')
      const all = guideAreas.flatMap(({ guides }) => guides)
      const linkTo = (at: number) => {
        const one = all[at]
        return one === undefined ? undefined : { href: `${path}/${one.topic}`, name: one.title }
      }
      const place = all.indexOf(guide)
      // Operators read about servers that they have yet to set up, with names of hosts and proxies that belong together.
      const isForOperators = guideAreas[0].guides.includes(guide)
      const apps =
        'userId' in visit && !isForOperators && usesClientId(guide.text)
          ? await listGuideApps(door.platform, visit.userId, parameterOf(visit, 'app'))
          : null
      const body = await bodyOf(topic, isForOperators ? guide.text : withAddress(guide.text, door.platform.publicUrl))
      // Every part of it was rendered, and so escaped.
      const parts = [
        apps === null ? '' : renderToString(<OwnApp path={`${path}/${topic}`} {...apps} />),
        apps === null ? body : body.replaceAll(placeholder, () => Bun.escapeHTML(apps.clientId)),
        renderToString(<Turn previous={linkTo(place - 1)} next={linkTo(place + 1)} />),
      ]
      const groups = guideAreas.map(({ name, guides }) => ({
        name,
        links: guides.map((one) => ({ href: `${path}/${one.topic}`, name: one.title })),
      }))
      const current = `${path}/${topic}`
      const markup = docsMarkup({ label: 'Guides', groups, current, body: parts.join('') })
      return page(
        <Layout title={guide.title} belongsTo="Guides" crumbs={[{ href: path, name: 'Guides' }]} visit={visit}>
          <div class="docs" dangerouslySetInnerHTML={{ __html: markup }} />
        </Layout>,
      )
    })
}

const ReferenceLinks = ({ of }: { readonly of: keyof typeof apiDocuments }) => {
  const other = of === 'apps' ? 'builder' : 'apps'
  return (
    <>
      <LinkButton href={path}>Guides</LinkButton>
      <LinkButton href={apiDocuments[other].reference}>
        {other === 'builder' ? 'For the builder' : 'For apps'}
      </LinkButton>
      <LinkButton href={apiDocuments[of].path}>OpenAPI document</LinkButton>
      <MainLink href={apiDocuments[of].page}>Try it</MainLink>
    </>
  )
}

/** The client ID that the examples mean, and the choice among the reader's apps. */
const OwnApp = ({ path, chosen, clientId, all }: GuideApps & { readonly path: string }) => (
  <div class="guide-app">
    <p>
      The client ID in the examples, <code>CLIENT_ID</code>, is <code>{clientId}</code>:{' '}
      <a href={`/console/${chosen.slug}/credentials?environment=development`}>
        <bdi>{chosen.name}</bdi>
      </a>{' '}
      in development.
    </p>
    {all.length === 1 ? null : (
      <FilterBar
        of={{
          path,
          fields: {
            app: oneOf(
              'Another app',
              all.map(({ slug, name }) => [slug, name] as const),
            ),
          },
          texts: { app: '' },
          values: { app: chosen.slug },
          parts: {},
        }}
        button="Show"
      />
    )}
  </div>
)
