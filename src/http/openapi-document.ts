import { swagger } from '@elysiajs/swagger'
import type { AnyElysia } from 'elysia'
import { isJsonObject, type JsonObject, openApiSchema, openApiSchemas } from './openapi-schema.ts'

/** What the document says about the service as a whole. */
export type DocumentInfo = NonNullable<NonNullable<Parameters<typeof swagger>[0]>['documentation']>

export type DocumentedRoute = AnyElysia['routes'][number]

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** The OpenAPI 3.0.3 document of these routes, without those whose detail says `hide`. */
export const openApiDocument = async (routes: readonly DocumentedRoute[], info: DocumentInfo): Promise<JsonObject> => {
  const raw = await generate(routes, info)
  const components = objectIn(raw, 'components')
  return {
    ...raw,
    paths: mapObject(objectIn(raw, 'paths'), cleanPath),
    components: { ...components, schemas: openApiSchemas(objectIn(components, 'schemas')) },
  }
}

/**
 * The plugin's own generator, asked in process: mounted as it is, it would also serve a page that loads scripts from
 * elsewhere. It reads the routes through two methods that Elysia gives a plugin; here they give ours.
 */
const generate = async (routes: readonly DocumentedRoute[], info: DocumentInfo): Promise<JsonObject> => {
  const plugin = swagger({ documentation: info, path: '/ui', specPath: '/document', excludeStaticFile: false })
  Object.assign(plugin, {
    getGlobalRoutes: () => routes.map(withoutOwnParameters),
    getGlobalDefinitions: () => ({ typebox: {}, type: {}, error: {} }),
  })
  const response = await plugin.handle(new Request('http://localhost/document'))
  const document: unknown = await response.json()
  if (!response.ok || !isJsonObject(document)) throw new Error('The OpenAPI document cannot be made.')
  return { ...document, paths: withOwnParameters(objectIn(document, 'paths'), routes) }
}

/** The plugin lets the parameters that a route's detail lists replace those of its schemas; so they are added afterwards. */
const withoutOwnParameters = (route: DocumentedRoute) => {
  const { parameters: _, ...detail } = route.hooks.detail ?? {}
  return { ...route, hooks: { ...route.hooks, detail } }
}

const withOwnParameters = (paths: JsonObject, routes: readonly DocumentedRoute[]): JsonObject => {
  const own = new Map(
    routes.map(({ method, path, hooks }) => [`${method.toLowerCase()} ${path}`, hooks.detail?.parameters]),
  )
  return mapObject(paths, (item, path) =>
    mapObject(item, (operation, method) => {
      const parameters = [...listIn(operation, 'parameters'), ...(own.get(`${method} ${path}`) ?? [])]
      return parameters.length === 0 ? operation : { ...operation, parameters }
    }),
  )
}

const cleanPath = (item: JsonObject): JsonObject =>
  Object.fromEntries(
    methods.flatMap((method) => (method in item ? [[method, cleanOperation(objectIn(item, method))]] : [])),
  )

const cleanOperation = (operation: JsonObject): JsonObject => {
  const { parameters, requestBody, responses, ...rest } = operation
  return {
    ...rest,
    ...(parameters === undefined ? {} : { parameters: listIn(operation, 'parameters').map(cleanParameter) }),
    ...(isJsonObject(requestBody)
      ? {
          requestBody: {
            required: true,
            content: mapObject(cleanContent(objectIn(requestBody, 'content')), openMedia),
          },
        }
      : {}),
    responses: mapObject(isJsonObject(responses) ? responses : {}, cleanResponse),
  }
}

/** Elysia closes the schema of a body when it handles its first request; the API ignores unknown fields. */
const openMedia = (media: JsonObject): JsonObject => {
  const { additionalProperties: _, ...schema } = objectIn(media, 'schema')
  return { ...media, schema }
}

/** A parameter says what it is for itself, not in its schema. */
const cleanParameter = (parameter: JsonObject): JsonObject => {
  const { examples, schema, ...rest } = parameter
  const [example] = Array.isArray(examples) ? examples : []
  return {
    ...rest,
    ...(isJsonObject(schema) ? { schema: openApiSchema(schema) } : {}),
    ...(example === undefined ? {} : { example }),
  }
}

/** The plugin spreads the schema over the response; only what belongs there stays. */
const cleanResponse = (response: JsonObject, status: string): JsonObject => {
  const { description, headers, content } = response
  return {
    description: typeof description === 'string' ? description : `Status ${status}.`,
    ...(headers === undefined ? {} : { headers }),
    ...(isJsonObject(content) && Object.keys(content).length > 0 ? { content: cleanContent(content) } : {}),
  }
}

/** Routes are listed as taking and giving forms and text too; all of it is JSON, but for a bare string, which is plain text. */
const cleanContent = (content: JsonObject): JsonObject => {
  const body = content['application/json']
  const kept = isJsonObject(body) ? { [mediaTypeOf(objectIn(body, 'schema'))]: body } : content
  return mapObject(kept, (media) => ({ ...media, schema: openApiSchema(objectIn(media, 'schema')) }))
}

const mediaTypeOf = ({ type }: JsonObject): string => (type === 'string' ? 'text/plain' : 'application/json')

const objectIn = (container: JsonObject, key: string): JsonObject => {
  const value = container[key]
  return isJsonObject(value) ? value : {}
}

const listIn = (container: JsonObject, key: string): readonly JsonObject[] => {
  const value = container[key]
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

const mapObject = (object: JsonObject, change: (value: JsonObject, key: string) => JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, isJsonObject(value) ? change(value, key) : value]),
  )
