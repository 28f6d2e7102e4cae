/** Apps of users in the management API. */
import { Type } from '@sinclair/typebox'
import { appStatuses } from '../../domain/app.ts'
import { model, nextCursor, nullableText, nullableTime, oneOf, recordId, text, time } from './fields.ts'

export const appListQuery = Type.Object({
  ownerExternalId: text("Whose apps: the builder's own ID of the user.", '42'),
})

export const appTransfer = model('AppTransfer', 'Who gets the app.', {
  toExternalId: text("The builder's own ID of the new owner, who must be active.", '43'),
})

export const managedApp = model('ManagedApp', 'The app.', {
  id: recordId('app', 'ID of the app.'),
  slug: text('Short name.', 'newsletter'),
  name: text('Name.', 'Newsletter'),
  status: oneOf(appStatuses, 'Whether its secrets and tokens work.', 'active'),
  ownerExternalId: nullableText("The builder's own ID of the owner.", '42'),
  createdAt: time('When it was registered.'),
  deletedAt: nullableTime('When it was deleted.'),
})

export const managedAppList = model('ManagedAppList', 'The apps of a user.', {
  data: Type.Array(managedApp, { description: 'By slug.' }),
  nextCursor,
})
