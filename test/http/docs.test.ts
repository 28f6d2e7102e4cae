import { describe, expect, test } from 'bun:test'
import { startTestServer } from './support/shell-server.ts'

const server = startTestServer()
const documentOf = async () => JSON.parse(await (await server.call('/openapi.json')).text())

const sources = async (path: string): Promise<string[]> => {
  const page = await (await server.call(path)).text()
  return [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url)
}

describe('the page of the documentation', () => {
  test.each([
    ['/docs', '/openapi.json'],
    ['/docs/api', '/openapi.json'],
    ['/docs/api/builder', '/openapi-builder.json'],
  ])('%s shows %s, loads only files of this server, and each of them exists', async (page, document) => {
    // This server has no pages, so the start page and the guides are tested with those.
    const pages = new Set([
      '/',
      '/docs/api',
      '/docs/api/builder',
      '/docs/guides',
      '/docs/reference',
      '/docs/reference/builder',
    ])
    const paths = (await sources(page)).filter((url) => !url.startsWith('data:') && !pages.has(url))
    expect([...new Set(paths)]).toEqual([
      '/docs/swagger-ui.css',
      document,
      '/docs/swagger-ui-bundle.js',
      '/docs/start.js',
    ])
    for (const path of paths) {
      const response = await server.call(path)
      expect(response.status).toBe(200)
      expect((await response.bytes()).length).toBeGreaterThan(100)
    }
  })

  test.each([
    ['/docs', 'text/html; charset=utf-8'],
    ['/docs/api', 'text/html; charset=utf-8'],
    ['/docs/api/builder', 'text/html; charset=utf-8'],
    ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
    ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['/docs/start.js', 'text/javascript; charset=utf-8'],
    ['/openapi.json', 'application/json'],
    ['/openapi-builder.json', 'application/json'],
  ])('serves %s as %s', async (path, type) => {
    const { headers } = await server.call(path)
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('runs no inline script and loads nothing from elsewhere', async () => {
    const response = await server.call('/docs')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/https?:|\*/)
    expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|\son[a-z]+=/)
  })

  test('uses no validator of another server', async () => {
    expect(await (await server.call('/docs/start.js')).text()).toContain('validatorUrl: null')
  })
})

describe('the document', () => {
  test('is OpenAPI 3.1 and lists the routes, without those of the documentation', async () => {
    const { openapi, paths } = await documentOf()
    expect(openapi).toBe('3.1.0')
    expect(Object.keys(paths)).toContain('/things/{id}')
    expect(Object.keys(paths['/plain'])).toEqual(['get', 'delete'])
    expect(Object.keys(paths).filter((path) => path.startsWith('/docs') || path.includes('openapi'))).toEqual([])
    expect(Object.keys(paths)).not.toContain('/throws') // not an operation of the API, since it has no ID
  })

  test('lists JSON as the only media type of a body', async () => {
    const { paths } = await documentOf()
    expect(Object.keys(paths['/api/app-platform/large'].post.requestBody.content)).toEqual(['application/json'])
  })

  test('is the same every time', async () => {
    expect(await (await server.call('/openapi.json')).text()).toBe(
      await (await startTestServer().call('/openapi.json')).text(),
    )
  })
})
