import { Type } from '@sinclair/typebox'
import { resourceKinds, resourceStatuses } from '../../domain/resource.ts'
import { nextCursor, nullableTime, oneOf, pageQuery, text, time, model } from './fields.ts'

/** `kind` is checked by the endpoint, which answers with the allowed values. */
export const resourceListQuery = Type.Object({
  kind: Type.Optional(text('Websites or stores; needed.', 'site', { documented: { enum: resourceKinds } })),
  ...pageQuery,
})
export const resourceList = model('ResourceList', 'A page of resources.', {
  kind: oneOf(resourceKinds, 'Websites or stores.'),
  data: Type.Array(
    model('Resource', 'A website or store.', {
      name: text('Name.', 'My bakery'),
      slug: text('Short name, unique per owner and kind.', 'my-bakery'),
      status: oneOf(resourceStatuses, 'Whether it can be seen by visitors.', 'published'),
      createdAt: time('When it was created.'),
      updatedAt: time('When it last changed.'),
      publishedAt: nullableTime('When it was published, if it was.'),
    }),
    { description: 'Resources of the signed-in user, by slug.' },
  ),
  nextCursor,
})
