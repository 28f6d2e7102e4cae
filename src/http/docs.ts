import { type AnyElysia, Elysia } from 'elysia'
import bundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import stylesheet from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import redirectScript from 'swagger-ui-dist/oauth2-redirect.js' with { type: 'file' }
import { currentApiVersion } from '../domain/api-version.ts'
import { builtInScopes, scopesFor } from '../domain/scope.ts'
import { cookieName } from './cookies.ts'
import { staticFile } from './packed.ts'
import { authorizationPath, tokenPath } from './paths.ts'
import type { DocumentInfo } from './openapi-document.ts'

const bearer = (description: string) => ({ type: 'http' as const, scheme: 'bearer', description })

const scopesOf = (caller: 'app' | 'user') =>
  Object.fromEntries(scopesFor(caller).map((name) => [name, builtInScopes.get(name)?.words ?? name]))

/** Swagger UI receives the authorization code here. */
const redirectPath = '/docs/oauth2-redirect.html'

/** What only the builder and the people who run the server call. */
const ofTheBuilder: ReadonlySet<string> = new Set(['Management', 'Directory', 'Operations'])

/**
 * Two documents, by reader: an app cannot call what needs a service key, and its generated client should not have it. What the
 * builder asks about the tokens of apps is in both.
 */
export const apiDocuments = {
  apps: {
    audience: 'app',
    path: '/openapi.json',
    page: '/docs/api',
    reference: '/docs/reference',
    title: 'App platform API',
    description:
      'Credentials, OAuth 2.0 with PKCE, versions and builder resources for registered apps. Every answer carries an X-Request-Id; every error has the same body. What the builder calls is described in /openapi-builder.json.',
    has: (tag: string) => !ofTheBuilder.has(tag),
  },
  builder: {
    audience: 'builder',
    path: '/openapi-builder.json',
    page: '/docs/api/builder',
    reference: '/docs/reference/builder',
    title: 'App platform API for the builder',
    description:
      'Users, websites and stores, installs, sign-in and the audit log, with a service key; checks of the tokens that apps present to your API; and what monitors read. Every answer carries an X-Request-Id; every error has the same body. What apps call is described in /openapi.json.',
    has: (tag: string) => ofTheBuilder.has(tag) || tag === 'Token checks',
  },
} as const
export type ApiDocument = (typeof apiDocuments)[keyof typeof apiDocuments]

const tags = [
  { name: 'App tokens', description: 'An app by itself.' },
  { name: 'OAuth', description: 'Consent, tokens and identity of users.' },
  { name: 'Standard OAuth', description: 'The same in the wire format of the RFCs, for client libraries.' },
  { name: 'Versions', description: 'Versions of the calling app.' },
  { name: 'Webhooks', description: 'Webhook endpoints of the calling app in development.' },
  { name: 'Resources', description: 'Websites and stores of the signed-in user.' },
  { name: 'Session', description: 'Sessions of people, and of apps in frames.' },
  { name: 'Management', description: 'For the builder, with a service key.' },
  { name: 'Directory', description: 'The apps that people can install, for everybody.' },
  { name: 'Token checks', description: 'Whether a token that an app presents to another API is live.' },
  { name: 'Operations', description: 'For monitors and proxies.' },
]

const infoFor = (publicUrl: string, { title, description, has }: ApiDocument): DocumentInfo => ({
  info: {
    title,
    version: currentApiVersion,
    description,
    contact: { name: 'The operators of this server', url: publicUrl },
    license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  },
  servers: [{ url: publicUrl, description: 'This server.' }],
  externalDocs: { url: `${publicUrl}/docs/guides`, description: 'Guides' },
  tags: tags.filter(({ name }) => has(name)),
  components: {
    securitySchemes: {
      oauth2: {
        type: 'oauth2',
        description: `OAuth 2.0 with PKCE S256. To try it here, register ${publicUrl}${redirectPath} as a redirect URI of your app in development.`,
        flows: {
          authorizationCode: {
            authorizationUrl: publicUrl + authorizationPath,
            tokenUrl: publicUrl + tokenPath,
            refreshUrl: publicUrl + tokenPath,
            scopes: scopesOf('user'),
          },
          clientCredentials: { tokenUrl: publicUrl + tokenPath, scopes: scopesOf('app') },
        },
      },
      client: { type: 'http', scheme: 'basic', description: 'Client ID and client secret (RFC 6749 section 2.3.1).' },
      sessionCookie: {
        type: 'apiKey',
        in: 'cookie',
        name: cookieName({ platform: { publicUrl } }, 'session'),
        description: 'The session of a browser, with proof of the same origin.',
      },
      appToken: bearer('App token (`apat_…`) from POST /api/app-platform/token.'),
      userToken: bearer('User access token (`apua_…`) from POST /api/app-platform/oauth/token.'),
      session: bearer('User session (`apus_…`) from POST /api/session.'),
      serviceKey: bearer('Service key of the builder (`apok_…`), for the management API and for introspection alone.'),
      embeddedSession: bearer('Session of an app in a frame (`apes_…`), good on pages of its one origin alone.'),
    },
  },
})

/** Scripts, styles, fonts and pictures come from this server only, and no page may frame it. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A document of those routes that are part of the API, as text. Pages for people are not, and have no operation ID. */
export const apiDocumentOf = async (routes: AnyElysia['routes'], publicUrl: string, document: ApiDocument) => {
  const { openApiDocument } = await import('./openapi-document.ts') // imported at first use: it is large, and few ask for it
  const described = routes.filter(
    ({ hooks: { detail } }) => detail?.operationId !== undefined && document.has(String(detail.tags)),
  )
  return JSON.stringify(await openApiDocument(described, infoFor(publicUrl, document), document.audience))
}

const hidden = { detail: { hide: true } } as const
const scripts = 'text/javascript; charset=utf-8'

const unchanging = 'public, max-age=3600'

const embeddedFile = (path: string, type = scripts) =>
  staticFile(async () => await Bun.file(path).bytes(), type, unchanging)
const textFile = (text: string | (() => Promise<string>), type: string, cacheControl: string) =>
  staticFile(async () => new TextEncoder().encode(typeof text === 'string' ? text : await text()), type, cacheControl)

const docsPageAnswer = (content: string): Response =>
  new Response(content, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': contentSecurityPolicy,
      // As all pages: otherwise the window that *Authorize* opens could not hand over the code.
      'cross-origin-opener-policy': 'same-origin',
    },
  })

/** The documents, each made of these routes at the first request for it, and the pages that show them. */
export const docsRoutes = (publicUrl: string, routes: () => AnyElysia['routes']): AnyElysia => {
  const plugin: AnyElysia = new Elysia()
  const files = {
    '/docs/oauth2-redirect.js': embeddedFile(redirectScript),
    '/docs/swagger-ui.css': embeddedFile(stylesheet, 'text/css; charset=utf-8'),
    '/docs/swagger-ui-bundle.js': embeddedFile(bundle),
    '/docs/start.js': textFile(docsScript, scripts, unchanging),
  }
  for (const [path, answer] of Object.entries(files)) {
    plugin.get(path, async ({ request }) => await answer(request), hidden)
  }
  for (const document of Object.values(apiDocuments)) {
    let made: Promise<string> | null = null
    const answer = textFile(
      async () => await (made ??= apiDocumentOf(routes(), publicUrl, document)),
      'application/json',
      'no-cache',
    )
    plugin.get(document.path, async ({ request }) => await answer(request), hidden)
    plugin.get(document.page, () => docsPageAnswer(docsPage(document)), hidden)
  }
  plugin
    .get('/docs', () => docsPageAnswer(docsPage(apiDocuments.apps)), hidden) // the path in the contract
    .get(redirectPath, () => docsPageAnswer(redirectPage), hidden)
  return plugin
}

/** No inline script, and nothing from another server. The dark look of the reference needs a class, which the script sets. */
const docsPage = ({ path, page, reference, title }: ApiDocument): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%233451d1'/%3E%3Cpath d='M9 9h6v6H9zM17 17h6v6h-6zM9 17h6v6H9z' fill='%23fff'/%3E%3Cpath d='M20 7l5 5-5 5-5-5z' fill='%23b9c5ff'/%3E%3C/svg%3E" />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <style>
      body { margin: 0; }
      header { display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: center; padding: 12px 20px; border-bottom: 1px solid light-dark(#e2e4e9, #2a2d34); background: light-dark(#f6f7f8, #0e0f11); font: 500 14px/1.55 system-ui, sans-serif; }
      header a { padding: 4px 0; color: light-dark(#5b606c, #a0a5b1); text-decoration: none; }
      header a:is(:hover, [aria-current]) { color: light-dark(#191b20, #e9eaed); }
      header a:focus-visible { outline: 2px solid light-dark(#3451d1, #93a5ff); outline-offset: 2px; }
      noscript { display: block; padding: 20px; font: 14px/1.55 system-ui, sans-serif; }
      html.dark-mode, html.dark-mode .swagger-ui { background: #141518; }
      .swagger-ui .wrapper { box-sizing: border-box; max-width: 1200px; }
      .swagger-ui .info { margin: 32px 0; }
      .swagger-ui .info .title { font-size: 28px; }
    </style>
  </head>
  <body>
    <header>
      <a href="/">Home</a>
      <a href="/docs/guides">Guides</a>
      <a href="${reference}">API reference</a>
      ${navigationTo(apiDocuments.apps, 'Try it: for apps', page)}
      ${navigationTo(apiDocuments.builder, 'Try it: for the builder', page)}
      <a id="openapi" href="${path}">OpenAPI document</a>
    </header>
    <div id="swagger-ui"></div>
    <noscript>This page needs scripts. The document itself is at <a href="${path}">${path}</a>.</noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

const navigationTo = (document: ApiDocument, words: string, current: string): string =>
  `<a href="${document.page}"${document.page === current ? ' aria-current="page"' : ''}>${words}</a>`

/** It hands the authorization code to the page that has opened it. */
const redirectPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Authorization</title>
  </head>
  <body>
    <script src="/docs/oauth2-redirect.js"></script>
  </body>
</html>
`

const docsScript = `// Dark or light as the reader's system is, also when it changes.
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
// No validator: the page calls no other server.
SwaggerUIBundle({
  url: document.getElementById('openapi').getAttribute('href'),
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  oauth2RedirectUrl: location.origin + '${redirectPath}',
}).initOAuth({ usePkceWithAuthorizationCodeGrant: true })
`
