import type { Json } from './call.ts'

/** An OpenAPI document with what each reference leads to in its place. */
export const withoutReferences = (document: Json): Json => {
  const resolved = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(resolved)
    const { $ref: reference, ...beside } = value
    if (typeof reference !== 'string') {
      return Object.fromEntries(Object.entries<Json>(value).map(([key, part]) => [key, resolved(part)]))
    }
    const target = reference
      .slice(2)
      .split('/')
      .reduce((part: Json, key: string) => part?.[key], document)
    if (target === undefined) throw new Error(`${reference} leads nowhere.`)
    return { ...resolved(target), ...beside }
  }
  return resolved(document)
}
