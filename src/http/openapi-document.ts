import { swagger } from '@elysiajs/swagger'
import type { AnyElysia } from 'elysia'
import type { Audience } from '../domain/webhook-event.ts'
import { headerParameters, oneExample } from './contract/details.ts'
import { eventBodies } from './contract/events.ts'
import { isContractPath } from './paths.ts'
import { exampleOf, isJsonObject, type JsonObject, mapObject, type Models, openApiSchema } from './openapi-schema.ts'

/** What the document says about the service as a whole. */
export type DocumentInfo = NonNullable<NonNullable<Parameters<typeof swagger>[0]>['documentation']>

type DocumentedRoute = AnyElysia['routes'][number]

/**
 * The OpenAPI 3.1 document of these routes, without those whose detail says `hide`. The plugin's generator is called in process for
 * the paths. Mounted, it would also serve a page that loads scripts from other servers. It reads the routes through two methods
 * that Elysia gives a plugin; here they return ours, each with its whole operation as its detail: from schemas, the plugin would
 * make three media types for every body, and a document in the words of OpenAPI 3.0.
 */
export const openApiDocument = async (
  routes: readonly DocumentedRoute[],
  info: DocumentInfo,
  audience: Audience,
): Promise<JsonObject> => {
  const models: Models = new Map()
  const refusals: Models = new Map()
  const described = routes.map((route) => ({ ...route, hooks: { detail: operationOf(route, models, refusals) } }))
  const plugin = swagger({ documentation: info, path: '/ui', specPath: '/document', excludeStaticFile: false })
  Object.assign(plugin, {
    getGlobalRoutes: () => described,
    getGlobalDefinitions: () => ({ typebox: {}, type: {}, error: {} }),
  })
  const response = await plugin.handle(new Request('http://localhost/document'))
  const document: unknown = await response.json()
  if (!response.ok || !isJsonObject(document)) throw new Error('The OpenAPI document cannot be made.')
  const answers: Models = new Map()
  const paths = shareAnswers(objectIn(document, 'paths'), answers)
  const responses = { ...inOrder(refusals), ...inOrder(answers) }
  const webhooks = webhooksFor(audience, models)
  const text = JSON.stringify([paths, webhooks, responses])
  const referenced = (kind: string, all: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(all).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)))
  const schemes = Object.entries(objectIn(objectIn(document, 'components'), 'securitySchemes'))
  return {
    ...document,
    openapi: '3.1.0',
    paths,
    webhooks,
    components: {
      securitySchemes: Object.fromEntries(schemes.filter(([name]) => text.includes(`{"${name}":[]}`))),
      schemas: inOrder(models),
      parameters: referenced('parameters', { ...headerParameters, ...deliveryHeaders }),
      responses,
      headers: referenced('headers', headers),
    },
  }
}

/** The deliveries that the server makes (OpenAPI 3.1), by kind of event. */
const webhooksFor = (audience: Audience, models: Models): JsonObject =>
  Object.fromEntries(
    [...eventBodies[audience]].map(([kind, body]) => {
      const schema: unknown = JSON.parse(JSON.stringify(body))
      if (!isJsonObject(schema)) throw new Error(`The event ${kind} has no schema.`)
      const delivery = {
        operationId: `on${kind.split(/[._]/).map(capitalized).join('')}`,
        summary: schema['description'],
        tags: [audience === 'app' ? 'Webhooks' : 'Management'],
        parameters: Object.keys(deliveryHeaders).map((name) => ({ $ref: `#/components/parameters/${name}` })),
        requestBody: { required: true, content: { 'application/json': contentOf(schema, models) } },
        security: [],
        responses: { '204': { description: 'Taken. Every other status but 2xx is tried again.' } },
      }
      return [kind, { post: delivery }]
    }),
  )

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const deliveryHeader = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  examples: oneExample(example),
})
/** Standard Webhooks. */
const deliveryHeaders = {
  WebhookId: deliveryHeader(
    'webhook-id',
    'The event; the same in every repeat.',
    'evt_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d',
  ),
  WebhookTimestamp: deliveryHeader('webhook-timestamp', 'When it was sent, in epoch seconds.', '1785585600'),
  WebhookSignature: deliveryHeader(
    'webhook-signature',
    'HMAC-SHA256 of ID, timestamp and body, one for each secret of the endpoint.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
}

const mapAnswers = (paths: JsonObject, change: (answer: JsonObject) => JsonObject): JsonObject =>
  mapObject(paths, (path) =>
    mapObject(path, (operation) => ({ ...operation, responses: mapObject(objectIn(operation, 'responses'), change) })),
  )

/** An answer that is given more than once gets the name of its model. Of several answers with one model, only the first does. */
const shareAnswers = (paths: JsonObject, answers: Models): JsonObject => {
  const seen = new Set<string>()
  mapAnswers(paths, (answer) => {
    const [, model] = /^#\/components\/schemas\/(\w+)$/.exec(modelOf(answer)) ?? []
    const text = JSON.stringify(answer)
    if (model !== undefined && seen.has(text) && !answers.has(model)) answers.set(model, answer)
    seen.add(text)
    return answer
  })
  const names = new Map([...answers].map(([name, answer]) => [JSON.stringify(answer), name]))
  return mapAnswers(paths, (answer) => {
    const name = names.get(JSON.stringify(answer))
    return name === undefined ? answer : { $ref: `#/components/responses/${name}` }
  })
}

/** The reference to the model of a JSON answer. */
const modelOf = (answer: JsonObject): string =>
  String(objectIn(objectIn(objectIn(answer, 'content'), 'application/json'), 'schema')['$ref'])

const inOrder = (models: Models): JsonObject =>
  Object.fromEntries([...models].toSorted(([one], [other]) => (one < other ? -1 : 1)))

const operationOf = ({ path, hooks }: DocumentedRoute, models: Models, refusals: Models): JsonObject => {
  const described: unknown = JSON.parse(JSON.stringify(hooks)) // schemas also have symbols
  if (!isJsonObject(described)) return {}
  const { otherBody, ...detail } = objectIn(described, 'detail')
  const parameters = [...queryParameters(objectIn(described, 'query'), models), ...listIn(detail, 'parameters')]
  const body = isJsonObject(otherBody) ? otherBody['schema'] : described['body']
  const media = isJsonObject(otherBody) ? String(otherBody['type']) : 'application/json'
  const isRepeatable = listIn(detail, 'parameters').some(
    ({ $ref }) => $ref === '#/components/parameters/IdempotencyKey',
  )
  const own = [...(isContractPath(path) ? contractHeaders : []), ...(isRepeatable ? ['Idempotent-Replayed'] : [])]
  const answers = objectIn(described, 'response')
  const codes = Object.fromEntries(
    Object.entries(answers).flatMap(([status, answer]) =>
      isJsonObject(answer) && answer['codes'] !== undefined ? [[status, answer['codes']]] : [],
    ),
  )
  return {
    ...detail,
    description: `${String(detail['description'])} Errors: ${errorsIn(codes)}.`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(isJsonObject(body)
      ? {
          requestBody: {
            required: true,
            content: { [media]: media === lines ? linesOf(body, models) : contentOf(body, models) },
          },
        }
      : {}),
    responses: Object.fromEntries(
      Object.entries(answers).flatMap(([status, answer]) => {
        if (!isJsonObject(answer)) return []
        if (answer['codes'] === undefined) return [[status, answerOf(answer, status, own, models)]]
        const key = usualRefusals.has(status) ? 'default' : status
        return [[key, referenceToRefusal(answer, key, models, refusals)]]
      }),
    ),
    'x-error-codes': codes,
  }
}

/** Such as `400 invalid_request, 401 invalid_client`; the usual ones are left out. */
const errorsIn = (codes: JsonObject): string =>
  Object.entries(codes)
    .filter(([status]) => !usualRefusals.has(status))
    .flatMap(([status, ofStatus]) =>
      (Array.isArray(ofStatus) ? ofStatus : []).map((code) => `${status} \`${String(code)}\``),
    )
    .join(', ')

/** The description of a parameter belongs to the parameter, not to its schema. */
const queryParameters = (query: JsonObject, models: Models): readonly JsonObject[] => {
  const { required } = query
  return Object.entries(objectIn(query, 'properties')).map(([name, field]) => {
    if (!isJsonObject(field)) return {}
    // `required` is of a field that the endpoint itself checks, because it answers with the allowed values.
    const { description = field['description'], required: isNeeded, ...schema } = openApiSchema(field, models)
    const example = exampleOf(field)
    return {
      name,
      in: 'query',
      required: isNeeded === true || (Array.isArray(required) && required.includes(name)),
      description,
      examples: example === undefined ? undefined : oneExample(example),
      schema,
    }
  })
}

/** The description of a body belongs to the response. Everything is JSON, except a bare string, which is plain text. */
const answerOf = (schema: JsonObject, status: string, own: readonly string[], models: Models): JsonObject => {
  const type = schema['type'] === 'string' ? 'text/plain' : 'application/json'
  return {
    description: schema['description'] ?? `Status ${status}.`,
    headers: referencesTo(['X-Request-Id', 'RateLimit', ...own]),
    ...(schema['type'] === 'void' ? {} : { content: { [type]: contentOf(schema, models) } }),
  }
}

/** All operations share one refusal of each status, and one of all usual statuses; the operation has the codes of each. */
const referenceToRefusal = (given: JsonObject, status: string, models: Models, refusals: Models): JsonObject => {
  const { codes: _, ...schema } = given
  const [word, description, ...own] = refusalWords[status] ?? [`Status${status}`, `Status ${status}.`]
  const name = schema['title'] === 'StandardError' ? `Standard${word}` : word
  refusals.set(name, {
    description,
    headers: referencesTo(['X-Request-Id', 'RateLimit', ...own]),
    content: { 'application/json': contentOf(schema, models) },
  })
  return { $ref: `#/components/responses/${name}` }
}

const referencesTo = (names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** Examples are whole bodies. Beside each field they would double what generators make of the models. */
const contentOf = (schema: JsonObject, models: Models): JsonObject => {
  const value = exampleOf(schema)
  return { schema: openApiSchema(schema, models), ...(value === undefined ? {} : { examples: { whole: { value } } }) }
}

/** A body with a JSON object on each line: text, because it is no JSON itself (JSON Schema 2020-12, `contentSchema`). */
const linesOf = (schema: JsonObject, models: Models): JsonObject => ({
  schema: { type: 'string', contentMediaType: lines, contentSchema: openApiSchema(schema, models) },
  examples: { whole: { value: `${JSON.stringify(exampleOf(schema))}\n` } },
})
const lines = 'application/x-ndjson'

const contractHeaders = ['X-Service-Api-Version', 'Deprecation', 'Sunset'] as const
const refusalWords: Readonly<Record<string, readonly [name: string, description: string, ...headers: string[]]>> = {
  400: ['BadRequest', 'The request is malformed or asks for what is not possible.'],
  401: ['Unauthorized', 'The credentials are missing, wrong or no longer valid.', 'WWW-Authenticate'],
  403: ['Forbidden', 'The caller may not do this.', 'WWW-Authenticate'],
  404: ['NotFound', 'The caller has no such record.'],
  409: ['Conflict', 'The present state does not allow it.'],
  422: ['UnprocessableContent', 'The idempotency key belongs to another request.'],
  default: [
    'Error',
    'Every other error, with the same body. 410: the API version has been retired. 413: the body is too large. 415: it has another media type or encoding. 429: the limit is used up for now. 500: something went wrong on our side. 503: try again later.',
    'RateLimit-Policy',
    'Retry-After',
  ],
}
/** What an endpoint may answer whatever it does, by its place or by its body, is described once, as `default`. */
const usualRefusals: ReadonlySet<string> = new Set(['410', '413', '415', '429', '500', '503'])

const header = (description: string, schema: JsonObject, example: string | number) => ({
  description,
  schema,
  examples: oneExample(example),
})
const headers = {
  'X-Request-Id': header(
    'ID of this request, as in the log.',
    { type: 'string' },
    'req_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d',
  ),
  'X-Service-Api-Version': header('The version of the contract that was served.', { type: 'string' }, '2026-08'),
  RateLimit: header(
    'What is left of the limit, and in how many seconds it is whole again.',
    { type: 'string' },
    '"read";r=599;t=60',
  ),
  'RateLimit-Policy': header('The limit: how many calls in how many seconds.', { type: 'string' }, '"read";q=600;w=60'),
  'Retry-After': header('In how many seconds to try again; with 429 and 503.', { type: 'integer', minimum: 1 }, 5),
  'WWW-Authenticate': header(
    'How to authenticate (RFC 6750 section 3).',
    { type: 'string' },
    'Bearer error="invalid_token"',
  ),
  'Idempotent-Replayed': header(
    'true if the answer is that of an earlier request with the same key.',
    { type: 'string' },
    'true',
  ),
  Deprecation: header('Since when the version is deprecated, if it is (RFC 9745).', { type: 'string' }, '@1817078400'),
  Sunset: header(
    'When a deprecated version is no longer served (RFC 8594).',
    { type: 'string' },
    'Sun, 01 Aug 2027 00:00:00 GMT',
  ),
}

const objectIn = (container: JsonObject, key: string): JsonObject => {
  const value = container[key]
  return isJsonObject(value) ? value : {}
}

const listIn = (container: JsonObject, key: string): readonly JsonObject[] => {
  const value = container[key]
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
