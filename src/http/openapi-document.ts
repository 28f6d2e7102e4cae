import { swagger } from '@elysiajs/swagger'
import type { AnyElysia } from 'elysia'

/** What the document says about the service as a whole. */
export type DocumentInfo = NonNullable<NonNullable<Parameters<typeof swagger>[0]>['documentation']>

type DocumentedRoute = AnyElysia['routes'][number]

/**
 * The OpenAPI 3.0.3 document of these routes, without those whose detail says `hide`. The plugin's generator is called in process.
 * Mounted, it would also serve a page that loads scripts from other servers. It reads the routes through two methods that Elysia
 * gives a plugin; here they return ours, each with its whole operation as its detail: from schemas, the plugin would make three
 * media types for every body, and fields that OpenAPI 3.0 does not have.
 */
export const openApiDocument = async (routes: readonly DocumentedRoute[], info: DocumentInfo): Promise<JsonObject> => {
  const plugin = swagger({ documentation: info, path: '/ui', specPath: '/document', excludeStaticFile: false })
  Object.assign(plugin, {
    getGlobalRoutes: () => routes.map((route) => ({ ...route, hooks: { detail: operationOf(route) } })),
    getGlobalDefinitions: () => ({ typebox: {}, type: {}, error: {} }),
  })
  const response = await plugin.handle(new Request('http://localhost/document'))
  const document: unknown = await response.json()
  if (!response.ok || !isJsonObject(document)) throw new Error('The OpenAPI document cannot be made.')
  return document
}

const operationOf = ({ hooks }: DocumentedRoute): JsonObject => {
  const described: unknown = JSON.parse(JSON.stringify(hooks)) // schemas also have symbols
  if (!isJsonObject(described)) return {}
  const detail = objectIn(described, 'detail')
  const parameters = [...queryParameters(objectIn(described, 'query')), ...listIn(detail, 'parameters')]
  return {
    ...detail,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(isJsonObject(described['body']) ? { requestBody: requestBodyOf(described['body']) } : {}),
    responses: mapObject(objectIn(described, 'response'), responseOf),
  }
}

/** The description of a parameter belongs to the parameter, not to its schema. */
const queryParameters = (query: JsonObject): readonly JsonObject[] => {
  const { required } = query
  return Object.entries(objectIn(query, 'properties')).map(([name, field]) => {
    const { description, example, ...schema } = isJsonObject(field) ? openApiSchema(field) : {}
    return {
      name,
      in: 'query',
      required: Array.isArray(required) && required.includes(name),
      description,
      example,
      schema,
    }
  })
}

/** Elysia may forbid additional fields in a schema that it uses; the API ignores unknown fields. */
const requestBodyOf = (body: JsonObject): JsonObject => {
  const { additionalProperties: _, ...schema } = body
  return { required: true, content: { 'application/json': { schema: openApiSchema(schema) } } }
}

/** The description of an object belongs to the response, not to its schema. */
const responseOf = (schema: JsonObject, status: string): JsonObject => {
  const { description = `Status ${status}.`, additionalProperties: _, ...fields } = schema
  const content = { [mediaTypeOf(schema)]: { schema: openApiSchema(schema['type'] === 'object' ? fields : schema) } }
  return schema['type'] === 'void' ? { description } : { description, content }
}

/** Everything is JSON, except a bare string, which is plain text. */
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

/** Translates a TypeBox schema to OpenAPI 3.0.3: no `null` type, no `const`, one `example`. */
export const openApiSchema = (schema: JsonObject): JsonObject => {
  const { $id: _, const: only, examples, patternProperties, anyOf, ...rest } = schema
  const { properties, items } = rest
  return {
    ...rest,
    ...(isJsonObject(properties) ? { properties: mapObject(properties, openApiSchema) } : {}),
    ...(isJsonObject(items) ? { items: openApiSchema(items) } : {}),
    ...(only === undefined ? {} : { enum: [only] }),
    ...(isJsonObject(patternProperties) ? { additionalProperties: anyValueOf(patternProperties) } : {}),
    ...(Array.isArray(anyOf) ? alternatives(anyOf.filter(isJsonObject)) : {}),
    ...(Array.isArray(examples) ? { example: examples[0] } : {}),
  }
}

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
  if (others.length === 1) return { ...first, ...nullable }
  const values = others.flatMap((other) => (Array.isArray(other['enum']) ? other['enum'] : []))
  const isEnum = first !== undefined && others.every(isPureEnum) && others.every(({ type }) => type === first['type'])
  // A nullable enum must list null itself (OpenAPI 3.0.3, proposal 003).
  if (isEnum) return { type: first['type'], enum: 'nullable' in nullable ? [...values, null] : values, ...nullable }
  return { anyOf: others, ...nullable }
}

const isPureEnum = (schema: JsonObject): boolean => Object.keys(schema).every((key) => key === 'type' || key === 'enum')
