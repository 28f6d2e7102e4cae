/**
 * The schemas of OpenAPI 3.1 are JSON Schema, as those of TypeBox are, so they are taken over. Three keywords of ours say how a
 * schema is documented: `title` makes it a named model, to which others refer; `documented` has keywords that describe it better
 * than what is checked, or is `false` for a field that is left out; and with `shared`, the description of a model of values, each
 * field that has such a value keeps a description of its own, if that says more.
 */
type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json | undefined }
/** The named models of a document. */
export type Models = Map<string, JsonObject>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const mapObject = (object: JsonObject, change: (value: JsonObject, key: string) => JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, isJsonObject(value) ? change(value, key) : value]),
  )

/** An example of the schema, made of those of its fields; undefined if it has none. */
export const exampleOf = (schema: JsonObject): Json | undefined => {
  const { type, properties, items, anyOf, examples, const: only, documented } = schema
  if (isJsonObject(documented) && Array.isArray(documented['examples'])) return documented['examples'][0]
  if (Array.isArray(examples)) return examples[0]
  if (only !== undefined) return only
  if (isJsonObject(properties)) return mapFields(properties, exampleOf)
  if (type === 'array' && isJsonObject(items)) return [exampleOf(items) ?? null]
  const [first] = Array.isArray(anyOf) ? anyOf : []
  return isJsonObject(first) ? exampleOf(first) : undefined
}

/** The fields that are documented. */
const mapFields = (properties: JsonObject, change: (field: JsonObject) => Json | undefined): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) =>
      isJsonObject(field) && field['documented'] !== false ? [[name, change(field)]] : [],
    ),
  )

/** The schema without examples, or a reference to the model that it becomes. @throws Error if another schema has the name */
export const openApiSchema = (schema: JsonObject, models: Models): JsonObject => {
  const { title, shared, documented, ...checked } = schema
  const written = translated({ ...checked, ...(isJsonObject(documented) ? documented : {}) }, models)
  if (typeof title !== 'string') return written
  if (typeof shared === 'string') {
    const { description, ...rest } = written
    const reference = named(title, { ...rest, description: shared }, models)
    return description === undefined || description === shared ? reference : { ...reference, description }
  }
  return named(title, written, models)
}

const named = (title: string, written: JsonObject, models: Models): JsonObject => {
  const known = models.get(title)
  if (known !== undefined && !Bun.deepEquals(known, written)) throw new Error(`Two schemas are named ${title}.`)
  models.set(title, written)
  return { $ref: `#/components/schemas/${title}` }
}

const translated = (schema: JsonObject, models: Models): JsonObject => {
  const { $id: _, examples: __, patternProperties, properties, items, anyOf, additionalProperties, ...rest } = schema
  return {
    ...rest,
    ...(isJsonObject(properties) ? { properties: mapFields(properties, (field) => openApiSchema(field, models)) } : {}),
    ...(isJsonObject(items) ? { items: openApiSchema(items, models) } : {}),
    // The API ignores fields that it does not know, so `false` is never meant for clients.
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(isJsonObject(patternProperties) ? { additionalProperties: anyValueOf(patternProperties, models) } : {}),
    ...(Array.isArray(anyOf) ? alternatives(anyOf.filter(isJsonObject), models) : {}),
  }
}

/** The values of a record. Its keys are any text, and generators know no patterns for keys. */
const anyValueOf = (patternProperties: JsonObject, models: Models): Json => {
  const [first] = Object.values(patternProperties)
  return isJsonObject(first) && Object.keys(first).length > 0 ? openApiSchema(first, models) : true
}

/** A choice of texts is an `enum`, which readers and generators take for one list. */
const alternatives = (branches: readonly JsonObject[], models: Models): JsonObject =>
  branches.length > 1 && branches.every(({ const: only }) => typeof only === 'string')
    ? { type: 'string', enum: branches.map(({ const: only }) => only ?? null) }
    : { anyOf: branches.map((branch) => openApiSchema(branch, models)) }
