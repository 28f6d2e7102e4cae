import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { Layout } from '../layout.tsx'
import { page } from '../page.ts'

const path = '/docs/guides'

/** The guides, for everybody: they say nothing about this server. */
export const guideRoutes = (door: Door) => {
  const { platformName } = door.platform
  return new Elysia()
    .get(path, async () => {
      const { guideAreas } = await import('../../guides/index.ts') // imported at first use: most servers are never asked
      return page(
        <Layout title="Guides" visit={{ platformName }}>
          <p>
            The <a href="/docs">API reference</a> describes every endpoint.
          </p>
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
        </Layout>,
      )
    })
    .get(`${path}/:topic`, async ({ params: { topic } }) => {
      const [{ findGuide }, { Markdown }] = await Promise.all([
        import('../../guides/index.ts'),
        import('./markdown.tsx'),
      ])
      const guide = findGuide(topic)
      if (guide === null) throw refuse('route_not_found')
      const above = (
        <nav aria-label="Guides">
          <a href={path}>Guides</a>
        </nav>
      )
      return page(
        <Layout title={guide.title} belongsTo="Guides" above={above} visit={{ platformName }}>
          <Markdown text={guide.text} />
        </Layout>,
      )
    })
}
