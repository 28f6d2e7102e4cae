const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/**
 * A JSON pointer as a dotted path, as far as the schema itself names the way. A key that the schema does not name was
 * chosen by the caller and is never repeated: the path ends before it. Null when nothing of it is left.
 */
export const pathInSchema = (validator: unknown, pointer: string): string | null => {
  let schema = isRecord(validator) && isRecord(validator['schema']) ? validator['schema'] : validator
  const named: string[] = []
  for (const segment of pointer.split('/').slice(1)) {
    const next = childOf(schema, segment)
    if (next === undefined) break
    named.push(segment)
    schema = next
  }
  return named.length === 0 ? null : named.join('.')
}

const childOf = (schema: unknown, segment: string): unknown => {
  if (!isRecord(schema)) return undefined
  const { properties, items } = schema
  if (isRecord(properties) && Object.hasOwn(properties, segment)) return properties[segment]
  if (isRecord(items) && /^\d{1,6}$/.test(segment)) return items
  return [schema['anyOf'], schema['allOf']]
    .flat()
    .map((branch) => childOf(branch, segment))
    .find((found) => found !== undefined)
}
