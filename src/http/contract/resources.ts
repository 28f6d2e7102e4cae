import { Type } from '@sinclair/typebox'
import { installApprovals, installStates } from '../../domain/install.ts'
import { resourceKinds, resourceStatuses } from '../../domain/resource.ts'
import type { PathParameter } from './details.ts'
import {
  nextCursor,
  pageModel,
  nullable,
  nullableText,
  nullableTime,
  object,
  oneOf,
  pageQuery,
  recordId,
  text,
  time,
  model,
} from './fields.ts'

/** `kind` is checked by the endpoint, which answers with the allowed values. */
export const resourceListQuery = Type.Object({
  kind: Type.Optional(
    text('Websites or stores; needed.', 'site', { documented: { enum: resourceKinds, required: true } }),
  ),
  status: Type.Optional(oneOf(resourceStatuses, 'Only those with this status.', 'published')),
  installed: Type.Optional(oneOf(['true', 'false'], 'With true, only those on which the calling app is in use.')),
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

export const installParameter: PathParameter = {
  name: 'id',
  description: 'ID of the install.',
  example: 'ins_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d',
}
export const installQuery = Type.Object({
  kind: Type.Optional(oneOf(resourceKinds, 'Only installs on websites, or on stores.')),
  state: Type.Optional(oneOf(installStates, 'Only installs in use, or only the others.')),
  resourceId: Type.Optional(
    text("Only installs on the website or store of this ID, which is the builder's own.", '17'),
  ),
  ...pageQuery,
})
export const installRecord = model('Install', 'An install of the app on a website or store.', {
  id: recordId('ins', 'ID of the install.'),
  kind: oneOf(resourceKinds, 'On a website or a store.'),
  resource: nullable(
    object('The website or store.', {
      id: nullableText(
        "The builder's own ID of it, as the guard of the builder's API takes it; null if it has none.",
        '17',
      ),
      name: nullableText(
        'Its name; null without the scope to read it, and while the install is not in use.',
        'My bakery',
      ),
      slug: nullableText('Its slug, or null as the name.', 'my-bakery'),
    }),
    "The website or store; null in answers to the app's own token when the install has ended.",
  ),
  userId: nullable(recordId('usr', 'ID of the user.'), 'The user who installed the app; null as `resource`.'),
  approval: oneOf(installApprovals, "The operator's decision.", 'approved'),
  state: oneOf(installStates, 'Whether it is in use.'),
  scopes: Type.Array(text('A scope name.', 'site:read'), { description: 'The scopes that the user agreed to.' }),
  createdAt: time('When the user installed the app.'),
  updatedAt: time('When it last changed.'),
})
export const installList = pageModel('InstallList', 'A page of installs.', installRecord, 'Installs, oldest first.')
