/**
 * What is checked of an answer. `read-answer.ts` makes sure that a server of this contract gave it. Such a server checks its answers
 * against the schemas that the types of `contract-types.ts` are made of, so here only those fields are checked that would do
 * harm if they were missing: tokens and their lifetimes, whether a token is live or revoked, and what a list goes on from.
 */
import type * as contract from './contract-types.ts'

/** Whether an answer is of that kind. What a server sends is unknown until it is checked. */
export type Shape<T> = (value: unknown) => value is T

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject: Shape<JsonObject> = (value): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A JSON object, whose fields are trusted: `isAnswer<Version>`. */
export const isAnswer = <T extends object>(value: unknown): value is T => isObject(value)

/** A page of a list: `isPage<VersionPage>`. */
export const isPage = <T extends contract.Page<object>>(value: unknown): value is T =>
  isObject(value) && isItems(value['data']) && (value['nextCursor'] === null || isText(value['nextCursor']))

const isItems = (value: unknown): boolean => Array.isArray(value) && value.every(isObject)

export const isText: Shape<string> = (value) => typeof value === 'string'

const isYesOrNo: Shape<boolean> = (value) => typeof value === 'boolean'

const isTrue: Shape<true> = (value) => value === true

const isInteger: Shape<number> = (value): value is number => Number.isSafeInteger(value)

/** A lifetime that is short enough for a Date to hold its end. */
const isSeconds: Shape<number> = (value): value is number => isInteger(value) && value >= 0 && value < 2 ** 40

/** An object in which these fields have these types. The other fields are trusted. */
export const recordOf =
  <T extends object>(fields: { readonly [Name in keyof T]?: Shape<T[Name]> }): Shape<T> =>
  (value): value is T =>
    isObject(value) &&
    Object.entries<Shape<unknown> | undefined>(fields).every(([name, shape]) => shape?.(value[name]) ?? true)

export const isAppTokenAnswer = recordOf<contract.AppTokenAnswer>({
  accessToken: isText,
  expiresIn: isSeconds,
  scope: isText,
})

export const hasScope = recordOf<{ readonly scope: string }>({ scope: isText })

export const isTokenAnswer = recordOf<contract.TokenAnswer>({
  accessToken: isText,
  expiresIn: isSeconds,
  refreshToken: isText,
  refreshTokenExpiresIn: isSeconds,
  scope: isText,
  grantId: isText,
})

export const isEmbeddedAnswer = recordOf<contract.EmbeddedAnswer>({ sessionToken: isText, expiresIn: isSeconds })

export const isIntrospection = recordOf<contract.Introspection>({ active: isYesOrNo })

export const isRevoked = recordOf<contract.Revoked>({ revoked: isTrue })

/** Its reader goes on from `next` until that stays the same. */
export const isAuditPage = (value: unknown): value is contract.AuditPage =>
  isObject(value) && isItems(value['data']) && isInteger(value['next'])
