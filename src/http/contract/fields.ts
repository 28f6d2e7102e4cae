/** Fields that several calls share, and the kinds of fields, each with a description and an example for the document. */
import { type StringOptions, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { environments } from '../../domain/app.ts'
import { resourceKinds, resourceStatuses } from '../../domain/resource.ts'
import { userStatuses } from '../../domain/user.ts'
import { versionStatuses } from '../../domain/version.ts'

export const text = (description: string, example: string, rules: StringOptions = {}) =>
  Type.String({ description, examples: [example], ...rules })
/** Text of at least one character. */
export const someText = (description: string, example: string, rules: StringOptions = {}) =>
  text(description, example, { minLength: 1, ...rules })
const anyTime = 'A time: RFC 3339, UTC, milliseconds.'
export const time = (description: string) =>
  text(description, '2026-08-01T12:00:00.000Z', {
    title: 'Time',
    shared: anyTime,
    documented: { format: 'date-time' },
  })
export const recordId = (prefix: string, description: string) =>
  text(description, `${prefix}_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d`)
/** The values that have a model in the document. */
const namedValues = new Map<readonly string[], { readonly title: string; readonly shared: string }>([
  [environments, { title: 'Environment', shared: 'An environment of an app.' }],
  [resourceKinds, { title: 'ResourceKind', shared: 'Website or store.' }],
  [resourceStatuses, { title: 'ResourceStatus', shared: 'Whether visitors can see a website or store.' }],
  [userStatuses, { title: 'UserStatus', shared: 'Whether the person can sign in and their tokens work.' }],
  [versionStatuses, { title: 'VersionStatus', shared: 'Where the version stands in its life.' }],
])
export const oneOf = <const T extends string>(values: readonly T[], description: string, example = values[0]) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description, examples: [example], ...namedValues.get(values) },
  )
export const flag = (description: string, example: boolean) => Type.Boolean({ description, examples: [example] })
export const count = (description: string, example: number) => Type.Integer({ description, examples: [example] })
export const seconds = (description: string, example: number) => count(`${description} Whole seconds.`, example)
export const object = <T extends TProperties>(description: string, fields: T) => Type.Object(fields, { description })
/** An object with a name of its own in the document. */
export const model = <T extends TProperties>(name: string, description: string, fields: T) =>
  Type.Object(fields, { description, title: name })
export const nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })
/** Null, or a text; the description is that of both. */
export const nullableText = (description: string, example: string) =>
  nullable(Type.String({ examples: [example] }), description)
export const nullableTime = (description: string) =>
  Type.Union([time(anyTime), Type.Null()], {
    description,
    title: 'TimeOrNull',
    shared: 'A time, or null while there is none.',
  })
export const jsonObject = (description: string, example: object) =>
  Type.Record(Type.String(), Type.Unknown(), {
    description,
    title: 'JsonObject',
    shared: 'Any JSON object.',
    examples: [example],
  })

export const clientId = someText('Client ID of the app in one environment.', 'apc_dev_0HqT3vXk9LmP2aZ7RwYb1c', {
  title: 'ClientId',
})
export const clientSecret = someText('Client secret. Only ever sent by the backend of the app.', '<CLIENT_SECRET>', {
  title: 'ClientSecret',
})
export const scope = text(
  'Space-separated scope names; order and repeats do not matter, answers are sorted.',
  'site:read store:read',
  { title: 'Scope' },
)
export const environment = oneOf(environments, 'Environment of the credential.')
export const tokenType = Type.Literal('Bearer', {
  description: 'How to present the token: always Bearer (RFC 6750).',
  title: 'TokenType',
  examples: ['Bearer'],
})
export const expiresAt = time('When the presented token expires.')
export const nextCursor = Type.Union([Type.String({ examples: ['MTI'] }), Type.Null()], {
  description: 'Cursor of the next page; null on the last one. Opaque.',
  title: 'NextCursor',
})

/** A page of a list; `order` says which rows come first. */
export const pageModel = <T extends TSchema>(name: string, description: string, of: T, order: string) =>
  model(name, description, { data: Type.Array(of, { description: order }), nextCursor })

/** How a parameter is documented that is text in the URL. */
export const integer = (minimum: number, maximum: number, example: number) => ({
  type: 'integer',
  minimum,
  maximum,
  examples: [example],
})

/** Query of every list. Numbers are checked by hand, because a query contains only text. */
export const pageQuery = {
  limit: Type.Optional(
    text('How many items at most: 1 to 100, by default 20.', '20', { documented: integer(1, 100, 20) }),
  ),
  cursor: Type.Optional(text('The nextCursor of the page before.', 'MTI')),
}
