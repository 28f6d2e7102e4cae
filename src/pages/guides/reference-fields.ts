import { isJsonObject, type JsonObject } from '../../http/openapi-schema.ts'

// Reads an OpenAPI document of our own: the fields of its schemas, in words.

export const objectIn = (of: JsonObject, key: string): JsonObject => {
  const value = of[key]
  return isJsonObject(value) ? value : {}
}
export const listIn = (of: JsonObject, key: string): readonly unknown[] => {
  const value = of[key]
  return Array.isArray(value) ? value : []
}
export const objectsIn = (of: JsonObject, key: string): readonly JsonObject[] => listIn(of, key).filter(isJsonObject)
export const textIn = (of: JsonObject, key: string): string => {
  const value = of[key]
  return typeof value === 'string' ? value : ''
}

export type SchemaField = {
  /** With the names of the objects that it is in, such as `rejection.items[].path`. */
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly about: string
}

/** What a document says, with its references followed. */
export const readerOf = (document: JsonObject) => {
  const resolved = (of: JsonObject): JsonObject => {
    const { $ref: reference, ...own } = of
    if (typeof reference !== 'string') return of
    const target = reference.slice('#/'.length).split('/').reduce(objectIn, document)
    return { ...resolved(target), ...own }
  }

  const typeOf = (schema: JsonObject): string => {
    const of = resolved(schema)
    if ('const' in of) return String(of['const'])
    if ('enum' in of) return `one of ${listIn(of, 'enum').join(', ')}`
    if ('anyOf' in of) return [...new Set(objectsIn(of, 'anyOf').map(typeOf))].join(' or ')
    if (of['type'] === 'array') return `list of ${typeOf(objectIn(of, 'items'))}`
    return typeNames[textIn(of, 'type')] ?? 'any'
  }

  /** The object behind a field: in a list, or beside null. */
  const objectOf = (schema: JsonObject): { readonly mark: string; readonly of: JsonObject } => {
    const of = resolved(schema)
    if (of['type'] === 'array') {
      const inner = objectOf(objectIn(of, 'items'))
      return { mark: `[]${inner.mark}`, of: inner.of }
    }
    const first = objectsIn(of, 'anyOf').find((one) => resolved(one)['type'] !== 'null')
    return first === undefined ? { mark: '', of } : objectOf(first)
  }

  const fieldsOf = (schema: JsonObject, before = '', depth = 0): readonly SchemaField[] => {
    const of = resolved(schema)
    const required = listIn(of, 'required')
    return Object.entries(objectIn(of, 'properties')).flatMap(([key, property]) => {
      if (!isJsonObject(property)) return []
      const name = before + key
      const { mark, of: inner } = objectOf(property)
      const about = textIn(resolved(property), 'description')
      const field: SchemaField = { name, type: typeOf(property), isRequired: required.includes(key), about }
      return depth < deepest ? [field].concat(fieldsOf(inner, `${name}${mark}.`, depth + 1)) : [field]
    })
  }

  /** The shapes that a body may have: several where the schema offers a choice. */
  const shapesOf = (schema: JsonObject): readonly JsonObject[] => {
    const choices = objectsIn(resolved(schema), 'anyOf').map(resolved)
    return choices.length === 0 ? [objectOf(schema).of] : choices.filter((one) => one['type'] !== 'null')
  }

  return { resolved, typeOf, fieldsOf, shapesOf }
}

const deepest = 4
const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
  null: 'null',
}

export type DocumentedCall = {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly of: JsonObject
}

/** Every call, or every event, of a part of the document. */
export const operationsIn = (paths: JsonObject): readonly DocumentedCall[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    isJsonObject(methods)
      ? Object.entries(methods).flatMap(([method, of]) =>
          isJsonObject(of) ? [{ id: textIn(of, 'operationId'), method, path, of }] : [],
        )
      : [],
  )
