/**
 * TypeBox schemas in the words of OpenAPI 3.0.3: no `null` type and no `const`. Two keywords of ours say how a
 * schema is documented: `title` makes it a named model, to which others refer, and `documented` has keywords that describe
 * it better than what is checked, or is `false` for a field that is left out. With `shared`, the description of a model of values,
 * each field that has such a value keeps a description of its own, if that says more.
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
    return description === undefined || description === shared ? reference : { description, allOf: [reference] }
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
  const {
    $id: _,
    const: only,
    examples: __,
    patternProperties,
    properties,
    items,
    anyOf,
    additionalProperties,
    ...rest
  } = schema
  return {
    ...rest,
    ...(isJsonObject(properties) ? fieldsOf(properties, schema['required'], models) : {}),
    ...(isJsonObject(items) ? { items: openApiSchema(items, models) } : {}),
    ...(only === undefined ? {} : { enum: [only] }),
    // The API ignores fields that it does not know, so `false` is never meant for clients.
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(isJsonObject(patternProperties) ? { additionalProperties: anyValueOf(patternProperties, models) } : {}),
    ...(Array.isArray(anyOf) ? alternatives(anyOf.filter(isJsonObject), schema['discriminator'], models) : {}),
  }
}

const fieldsOf = (properties: JsonObject, required: Json | undefined, models: Models): JsonObject => {
  const fields = mapFields(properties, (field) => openApiSchema(field, models))
  return required === undefined ? { properties: fields } : { properties: fields, required }
}

/** The values of a record; OpenAPI 3.0 has no pattern for its keys. */
const anyValueOf = (patternProperties: JsonObject, models: Models): Json => {
  const [first] = Object.values(patternProperties)
  return isJsonObject(first) && Object.keys(first).length > 0 ? openApiSchema(first, models) : true
}

/** `null` becomes `nullable`, a union of values an `enum`, a union of one schema that schema. */
const alternatives = (branches: readonly JsonObject[], discriminator: Json | undefined, models: Models): JsonObject => {
  const values = branches.filter(({ type }) => type !== 'null')
  const isNullable = values.length < branches.length
  const others = values.map((branch) => openApiSchema(isNullable ? withoutSharedModel(branch) : branch, models))
  const nullable = isNullable ? { nullable: true } : {}
  const [first] = others
  // Nothing may stand beside a reference.
  if (others.length === 1)
    return first?.['$ref'] === undefined ? { ...first, ...nullable } : { allOf: others, ...nullable }
  const choices = others.flatMap((other) => (Array.isArray(other['enum']) ? other['enum'] : []))
  const isEnum = first !== undefined && others.every(isPureEnum) && others.every(({ type }) => type === first['type'])
  // A nullable enum must list null itself (OpenAPI 3.0.3, proposal 003).
  if (isEnum) return { type: first['type'], enum: isNullable ? [...choices, null] : choices, ...nullable }
  return discriminator === undefined ? { anyOf: others, ...nullable } : { oneOf: others }
}

/** A model of values is not nullable, and `nullable` needs a type beside it. */
const withoutSharedModel = ({ title, shared, ...rest }: JsonObject): JsonObject =>
  shared === undefined ? { title, ...rest } : rest

const isPureEnum = (schema: JsonObject): boolean => Object.keys(schema).every((key) => key === 'type' || key === 'enum')
