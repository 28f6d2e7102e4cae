/** Whether a value is what the type says: what a server sends is not known before it has been looked at. */
export type Shape<T> = (value: unknown) => value is T

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject: Shape<JsonObject> = (value): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isText: Shape<string> = (value) => typeof value === 'string'

/** One of some words. Any will do: a later server may know more of them than this client. */
export const isWord = <T extends string>(value: unknown): value is T => typeof value === 'string'

export const isYesOrNo: Shape<boolean> = (value) => typeof value === 'boolean'

export const isTrue: Shape<true> = (value) => value === true

export const isInteger: Shape<number> = (value): value is number => Number.isSafeInteger(value)

/** A time to live: so long that a date can say when it ends. */
export const isSeconds: Shape<number> = (value): value is number => isInteger(value) && value >= 0 && value < 2 ** 40

export const orNull =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value): value is T | null =>
    value === null || shape(value)

/** What may be missing. */
export const optional =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || shape(value)

export const listOf =
  <T>(shape: Shape<T>): Shape<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(shape)

/** An object with these fields, and perhaps others that a later server has added. */
export const recordOf =
  <T extends object>(fields: { readonly [Name in keyof Required<T>]: Shape<T[Name]> }): Shape<T> =>
  (value): value is T =>
    isObject(value) && Object.entries<Shape<unknown>>(fields).every(([name, shape]) => shape(value[name]))
