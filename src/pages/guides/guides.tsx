import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { Crumbs, Layout } from '../design/shell.tsx'
import { page } from '../page.ts'
import { findVisit } from '../visit.ts'

const path = '/docs/guides'

/** A guide whose examples work on this server. The guides call a server https://apps.example.com. */
const withAddress = (text: string, publicUrl: string): string =>
  text
    .replaceAll('https://apps.example.com', () => publicUrl)
    .replaceAll(encodeURIComponent('https://apps.example.com'), () => encodeURIComponent(publicUrl))

/** The guides, for everybody. Of this server they show only its address. Signed-in people keep the navigation. */
export const guideRoutes = (door: Door) => {
  const reader = async (request: Request) =>
    (await findVisit(door, request)) ?? { platformName: door.platform.platformName }
  return new Elysia()
    .get(path, async ({ request }) => {
      const { guideAreas } = await import('../../guides/index.ts') // imported at first use: most servers are never asked
      return page(
        <Layout
          title="Guides"
          about="How to run this platform, to build apps for it, and to join it to a builder of websites."
          actions={
            <a class="button" href="/docs">
              API reference
            </a>
          }
          visit={await reader(request)}
        >
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
        </Layout>,
      )
    })
    .get(`${path}/:topic`, async ({ request, params: { topic } }) => {
      const visit = await reader(request)
      const [{ findGuide, guideAreas }, { Markdown }] = await Promise.all([
        import('../../guides/index.ts'),
        import('./markdown.tsx'),
      ])
      const guide = findGuide(topic)
      if (guide === null) throw refuse('route_not_found')
      // Operators read about servers that they have yet to set up, with names of hosts and proxies that belong together.
      const isForOperators = guideAreas[0].guides.includes(guide)
      return page(
        <Layout
          title={guide.title}
          belongsTo="Guides"
          above={<Crumbs links={[{ href: path, name: 'Guides' }]} />}
          visit={visit}
        >
          <div class="guide">
            <Markdown text={isForOperators ? guide.text : withAddress(guide.text, door.platform.publicUrl)} />
          </div>
        </Layout>,
      )
    })
}
