/** A JSON value as `JSON.parse` gives it. */
type Json = unknown

/** One place where two JSON values differ. `path` has the syntax of JavaScript: `permissions[0].host`, `["a key"]`. */
export type ManifestChange =
  | { readonly kind: 'added'; readonly path: string; readonly after: Json }
  | { readonly kind: 'removed'; readonly path: string; readonly before: Json }
  | { readonly kind: 'changed'; readonly path: string; readonly before: Json; readonly after: Json }

/**
 * Every place where the second value differs from the first, in the order of the second one's keys, removed keys last.
 * The order of keys is no difference; lists are compared index by index. An added value is reported whole, so the list
 * is complete: applying it to the first value gives the second. A generator, because manifests may differ in a million
 * places and a page shows only the first ones.
 */
export function* manifestDifference(before: Json, after: Json, path = ''): Generator<ManifestChange, void> {
  if (isList(before) && isList(after)) yield* compareLists(before, after, path)
  else if (isObject(before) && isObject(after)) yield* compareObjects(before, after, path)
  else if (before !== after) yield { kind: 'changed', path, before, after }
}

type JsonObject = Readonly<Record<string, Json>>

function* compareObjects(before: JsonObject, after: JsonObject, path: string): Generator<ManifestChange, void> {
  for (const key of Object.keys(after)) {
    const place = pathOfKey(path, key)
    // Own keys only: `__proto__` and `toString` are ordinary keys here.
    if (Object.hasOwn(before, key)) yield* manifestDifference(before[key], after[key], place)
    else yield { kind: 'added', path: place, after: after[key] }
  }
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) yield { kind: 'removed', path: pathOfKey(path, key), before: before[key] }
  }
}

function* compareLists(before: readonly Json[], after: readonly Json[], path: string): Generator<ManifestChange, void> {
  for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
    const place = `${path}[${index}]`
    if (index >= before.length) yield { kind: 'added', path: place, after: after[index] }
    else if (index >= after.length) yield { kind: 'removed', path: place, before: before[index] }
    else yield* manifestDifference(before[index], after[index], place)
  }
}

/** A key that is not a plain name is quoted, so that no two paths have the same text. */
const pathOfKey = (path: string, key: string): string => {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !isList(value)
