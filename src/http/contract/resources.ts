import { Type } from '@sinclair/typebox'
import { nextCursor, nullable, pageQuery, time } from './fields.ts'

const kind = Type.Union([Type.Literal('site'), Type.Literal('store')], {
  description: 'Websites or stores.',
  examples: ['site'],
})

/** `kind` is checked by the endpoint, which answers with the allowed values. */
export const resourceListQuery = Type.Object({
  kind: Type.Optional(Type.String({ description: 'site or store; needed.', examples: ['site'] })),
  ...pageQuery,
})
export const resourceList = Type.Object(
  {
    kind,
    data: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name.', examples: ['My bakery'] }),
        slug: Type.String({ description: 'Short name, unique per owner and kind.', examples: ['my-bakery'] }),
        status: Type.Union([Type.Literal('draft'), Type.Literal('published'), Type.Literal('archived')], {
          description: 'Whether it can be seen by visitors.',
          examples: ['published'],
        }),
        createdAt: time('When it was created.'),
        updatedAt: time('When it last changed.'),
        publishedAt: nullable(time('When it was published.'), 'When it was published, if it was.'),
      }),
      { description: 'Resources of the signed-in user, by slug.' },
    ),
    nextCursor,
  },
  { description: 'A page of resources.' },
)
