import { formPaths } from '../../../src/http/paths.ts'
import { readWholeApi } from '../../support/api-documents.ts'
import { siteMap, type Who } from '../../pages/support/site-map.ts'
import type { Json } from '../../support/call.ts'
import { embedOrigin } from '../../support/embedding.ts'
import { verifier } from '../../support/world.ts'
import type { FuzzWorld } from './credentials.ts'
import { documentedOperation } from './documented-operations.ts'
import { type Pairs, secret } from './draft.ts'
import {
  bearer,
  type Chance,
  cookie,
  draftOf,
  formType,
  jsonType,
  type Operation,
  pick,
  sameOrigin,
  type Start,
} from './operation.ts'

const standardForms = ({ api }: FuzzWorld, chance: Chance): Readonly<Record<string, Pairs>> => ({
  '/oauth/token': pick<Pairs>(chance, [
    [
      ['grant_type', 'client_credentials'],
      ['scope', 'site:read'],
    ],
    [
      ['grant_type', 'authorization_code'],
      ['code', secret('code')],
      ['redirect_uri', api.app.redirectUri],
      ['code_verifier', verifier],
    ],
    [
      ['grant_type', 'refresh_token'],
      ['refresh_token', secret('refreshToken')],
    ],
  ]),
  '/oauth/revoke': [
    ['token', secret(pick(chance, ['freshUserToken', 'refreshToken', 'freshAppToken', 'session']))],
    ['token_type_hint', 'x'],
  ],
  '/oauth/introspect': [
    ['token', secret(pick(chance, ['userToken', 'appToken', 'refreshToken', 'endedToken', 'session']))],
  ],
})

const standardOperation = (world: FuzzWorld, path: string): Operation => ({
  name: `POST ${path}`,
  weight: 8,
  draft: (chance) => {
    const { clientId } = world.api.app.development
    const fields = standardForms(world, chance)[path] ?? []
    const client: Pairs = [
      ['client_id', clientId],
      ['client_secret', secret('clientSecret')],
    ]
    return draftOf('POST', { path, headers: [formType], body: { kind: 'form', fields: [...client, ...fields] } })
  },
})

const embeddedOperations = ({ api }: FuzzWorld): readonly Operation[] => {
  const origin = ['Origin', embedOrigin(api.app)] as const
  const version = ['X-Service-Api-Version', '2026-08'] as const
  const exchange: Start = {
    path: '/api/embedded/session',
    headers: [jsonType, origin],
    body: { kind: 'json', value: { clientId: api.app.production.clientId, code: secret('installCode') } },
  }
  const resources = '/api/app-platform/resources'
  return [
    { name: 'POST /api/embedded/session', weight: 8, draft: () => draftOf('POST', exchange) },
    {
      name: 'GET /api/app-platform/resources from a frame',
      weight: 4,
      draft: () =>
        draftOf('GET', { path: resources, query: [['kind', 'site']], headers: [version, bearer('embedded'), origin] }),
    },
    ...[exchange.path, resources].map((path): Operation => ({
      name: `OPTIONS ${path}`,
      weight: 2,
      draft: () => draftOf('OPTIONS', { path, headers: [origin, ['Access-Control-Request-Method', 'GET']] }),
    })),
  ]
}

/** Reading what needs no credentials. */
const openPaths = [
  '/.well-known/oauth-authorization-server',
  '/openapi.json',
  '/openapi-builder.json',
  '/docs',
  '/assets/site.css',
  '/nowhere',
  '/favicon.ico',
]

const sessions: Readonly<Record<Who, string | null>> = {
  visitor: null,
  user: 'pageSession',
  operator: 'operatorSession',
}
const tickets: Readonly<Record<Who, string>> = { visitor: '', user: 'pageTicket', operator: 'operatorTicket' }

const pageOperations = (world: FuzzWorld): readonly Operation[] =>
  siteMap.flatMap(({ who, paths }) =>
    paths(world).map((whole): Operation => {
      const [path = '', query = ''] = whole.split('?')
      const name = sessions[who]
      const headers: Pairs = [['Accept', 'text/html'], ...(name === null ? [] : [cookie(name)])]
      const pairs = [...new URLSearchParams(query)]
      return { name: `GET ${path}`, weight: 1, draft: () => draftOf('GET', { path, query: pairs, headers }) }
    }),
  )

/** Every form that stands on a page, sent as its browser would. */
const formOperations = (world: FuzzWorld): readonly Operation[] => [
  ...world.forms.map(({ who, action, fields }) => formOperation(who, action, fields)),
  formOperation('visitor', '/sign-in', { email: [world.user.email], password: ['wrong'] }),
]

const formOperation = (who: Who, path: string, fields: Readonly<Record<string, readonly string[]>>): Operation => {
  const pairs = Object.entries(fields).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  )
  const name = sessions[who]
  const own: Pairs = pairs.map(([field, value]) => [
    field,
    field === 'ticket' && name !== null ? secret(tickets[who]) : value,
  ])
  const headers: Pairs = [['Accept', 'text/html'], formType, sameOrigin, ...(name === null ? [] : [cookie(name)])]
  return {
    name: `POST ${path}`,
    weight: 1,
    draft: () => draftOf('POST', { path, headers, body: { kind: 'form', fields: own } }),
  }
}

/** Whatever hashes a password costs as much as hundreds of others. */
const rare = (operations: readonly Operation[]): readonly Operation[] =>
  operations.map((operation) => ({
    ...operation,
    weight: /^POST .*(?:password|sign-in|users\/new|api\/session)$/.test(operation.name) ? 1 : 10 * operation.weight,
  }))

/** Every operation of the server: those of its OpenAPI document, and all others. */
export const readCatalogue = async (
  world: FuzzWorld,
): Promise<{ readonly document: Json; readonly operations: readonly Operation[] }> => {
  const document = await readWholeApi(world.server.url)
  const inJson = Object.entries<Json>(document.paths).filter(([path]) => !formPaths.includes(path))
  const documented = inJson.flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, told]) => documentedOperation(world, method.toUpperCase(), path, told)),
  )
  const open = openPaths.map((path): Operation => ({
    name: `GET ${path}`,
    weight: 1,
    draft: () => draftOf('GET', { path }),
  }))
  const standard = formPaths.map((path) => standardOperation(world, path))
  return {
    document,
    operations: rare([
      ...documented,
      ...standard,
      ...embeddedOperations(world),
      ...open,
      ...pageOperations(world),
      ...formOperations(world),
    ]),
  }
}
