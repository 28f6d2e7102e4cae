/** The directory of apps, for everybody. */
import { Type } from '@sinclair/typebox'
import { model, pageModel, nullableText, text, time } from './fields.ts'

const listedApp = model('ListedApp', 'An app of the directory. All texts are plain text of developers: escape them.', {
  slug: text('Short name.', 'newsletter'),
  name: text('Name.', 'Newsletter'),
  description: nullableText('What the live version says about the app.', 'Letters to your visitors'),
  publisher: nullableText('Who publishes it, as entered for the app.', 'Letters Ltd'),
  version: text('The live version.', '1.4.0'),
  scopes: Type.Array(Type.String({ examples: ['site:read'] }), {
    description: 'What the live version asks for, sorted.',
  }),
  iconUrl: nullableText(
    'A square PNG, JPEG or WebP of 128 to 1,024 pixels. Another icon has another address.',
    'https://apps.example.com/icons/5f1d…',
  ),
  url: text('The page of the app.', 'https://apps.example.com/apps/newsletter'),
  installUrl: text('Where a person installs it.', 'https://apps.example.com/apps/newsletter/install'),
  liveSince: time('When the live version became live.'),
})

export const listedAppList = pageModel('ListedAppList', 'Apps of the directory.', listedApp, 'By slug.')
