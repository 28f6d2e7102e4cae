type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json | undefined }

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords of JSON Schema that OpenAPI 3.0 does not have; those it spells otherwise are translated. */
const foreign = new Set(['$id', '$schema', 'const', 'examples', 'patternProperties', 'anyOf'])

/** A schema as TypeBox writes it, in the words of OpenAPI 3.0.3: no `null` type, no `const`, one `example`. */
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

export const openApiSchemas = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isJsonObject(schema) ? openApiSchema(schema) : schema]),
  )

/** A record's values; a pattern for its keys cannot be said in OpenAPI 3.0. */
const anyValueOf = (patternProperties: JsonObject): Json => {
  const [first] = Object.values(patternProperties)
  return isJsonObject(first) && Object.keys(first).length > 0 ? openApiSchema(first) : true
}

/** `null` becomes `nullable`, a choice among values an `enum`, a choice of one that one. */
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
