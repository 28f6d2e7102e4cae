import { swagger } from '@elysiajs/swagger'
import type { AnyElysia } from 'elysia'

/** What the document says about the service as a whole. */
export type DocumentInfo = NonNullable<NonNullable<Parameters<typeof swagger>[0]>['documentation']>

type DocumentedRoute = AnyElysia['routes'][number]

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
 * Calls the plugin's generator in process. Mounted, it would also serve a page that loads scripts from other servers. It reads
 * the routes through two methods that Elysia gives a plugin; here they return ours.
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

/** In the plugin, the parameters in a route's detail replace those of its schemas, so they are added afterwards. */
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

/** Elysia may forbid additional fields in a schema that it uses; the API ignores unknown fields. */
const openMedia = (media: JsonObject): JsonObject => {
  const { additionalProperties: _, ...schema } = objectIn(media, 'schema')
  return { ...media, schema }
}

/** The description of a parameter belongs to the parameter, not to its schema. */
const cleanParameter = (parameter: JsonObject): JsonObject => {
  const { examples, schema, ...rest } = parameter
  const [example] = Array.isArray(examples) ? examples : []
  return {
    ...rest,
    ...(isJsonObject(schema) ? { schema: openApiSchema(schema) } : {}),
    ...(example === undefined ? {} : { example }),
  }
}

/** The plugin copies the schema's fields into the response; they are removed. */
const cleanResponse = (response: JsonObject, status: string): JsonObject => {
  const { description, headers, content } = response
  return {
    description: typeof description === 'string' ? description : `Status ${status}.`,
    ...(headers === undefined ? {} : { headers }),
    ...(isJsonObject(content) && Object.keys(content).length > 0 ? { content: cleanContent(content) } : {}),
  }
}

/** The plugin also lists forms and text. Everything is JSON, except a bare string, which is plain text. */
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

type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json | undefined }

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords of JSON Schema that OpenAPI 3.0 does not have. Those with an equivalent are translated. */
const foreign = new Set(['$id', '$schema', 'const', 'examples', 'patternProperties', 'anyOf'])

/** Translates a TypeBox schema to OpenAPI 3.0.3: no `null` type, no `const`, one `example`. */
export const openApiSchema = (schema: JsonObject): JsonObject => {
  const { const: only, examples, patternProperties, anyOf } = schema
  const rest = Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !foreign.has(key))
      .map(([key, value]) => [key, translateKeyword(key, value)]),
  )
  return {
    ...rest,
    ...(only === undefined ? {} : { enum: [only] }),
    ...(isJsonObject(patternProperties) ? { additionalProperties: anyValueOf(patternProperties) } : {}),
    ...(Array.isArray(anyOf) ? alternatives(anyOf.filter(isJsonObject)) : {}),
    ...(Array.isArray(examples) && examples.length > 0 ? { example: examples[0] } : {}),
  }
}

const translateKeyword = (key: string, value: Json | undefined): Json | undefined => {
  switch (key) {
    case 'properties':
      return isJsonObject(value) ? openApiSchemas(value) : value
    case 'items':
    case 'not':
    case 'additionalProperties':
      return isJsonObject(value) ? openApiSchema(value) : value
    case 'allOf':
    case 'oneOf':
      return Array.isArray(value) ? value.filter(isJsonObject).map(openApiSchema) : value
    default:
      return value
  }
}

const openApiSchemas = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isJsonObject(schema) ? openApiSchema(schema) : schema]),
  )

/** The values of a record; OpenAPI 3.0 has no pattern for its keys. */
const anyValueOf = (patternProperties: JsonObject): Json => {
  const [first] = Object.values(patternProperties)
  return isJsonObject(first) && Object.keys(first).length > 0 ? openApiSchema(first) : true
}

/** `null` becomes `nullable`, a union of values an `enum`, a union of one schema that schema. */
const alternatives = (branches: readonly JsonObject[]): JsonObject => {
  const others = branches.filter(({ type }) => type !== 'null').map(openApiSchema)
  const nullable = others.length < branches.length ? { nullable: true } : {}
  const [first] = others
  if (first !== undefined && others.length === 1) {
    return '$ref' in first ? { allOf: [first], ...nullable } : { ...first, ...nullable }
  }
  const values = others.flatMap((other) => (Array.isArray(other['enum']) ? other['enum'] : []))
  const isEnum = first !== undefined && others.every(isPureEnum) && others.every(({ type }) => type === first['type'])
  // A nullable enum must list null itself (OpenAPI 3.0.3, proposal 003).
  if (isEnum) return { type: first['type'], enum: 'nullable' in nullable ? [...values, null] : values, ...nullable }
  return { anyOf: others, ...nullable }
}

const isPureEnum = (schema: JsonObject): boolean => Object.keys(schema).every((key) => key === 'type' || key === 'enum')
