/** Fields that several calls share, each with a description and an example for the document. */
import { type TSchema, Type } from '@sinclair/typebox'

export const time = (description: string) =>
  Type.String({ description: `${description} RFC 3339, UTC, milliseconds.`, examples: ['2026-08-01T12:00:00.000Z'] })
export const nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })
export const recordId = (prefix: string, description: string) =>
  Type.String({ description, examples: [`${prefix}_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d`] })

export const clientId = Type.String({
  minLength: 1,
  description: 'Client ID of the app in one environment.',
  examples: ['apc_dev_0HqT3vXk9LmP2aZ7RwYb1c'],
})
export const clientSecret = Type.String({
  minLength: 1,
  description: 'Client secret. Only ever sent by the backend of the app.',
  examples: ['<CLIENT_SECRET>'],
})
export const scope = Type.String({
  description: 'Space-separated scope names; order and repeats do not matter, answers are sorted.',
  examples: ['site:read store:read'],
})
export const environment = Type.Union([Type.Literal('development'), Type.Literal('production')], {
  description: 'Environment of the credential.',
  examples: ['development'],
})
export const tokenType = Type.Literal('Bearer', { description: 'Always Bearer (RFC 6750).', examples: ['Bearer'] })
export const seconds = (description: string, example: number) =>
  Type.Integer({ description: `${description} Whole seconds.`, examples: [example] })
export const expiresAt = time('When the presented token expires.')
export const nextCursor = nullable(
  Type.String({ examples: ['MTI'] }),
  'Cursor of the next page; null on the last one. Opaque.',
)

/** Query of every list. Numbers are checked by hand, because a query contains only text. */
export const pageQuery = {
  limit: Type.Optional(
    Type.String({ description: 'How many items at most: 1 to 100, by default 20.', examples: ['20'] }),
  ),
  cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.', examples: ['MTI'] })),
}
