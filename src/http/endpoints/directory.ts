import { Type } from '@sinclair/typebox'
import { installLivePath, listedAppPath } from '../../domain/install.ts'
import { pick } from '../../domain/pick.ts'
import { listDirectory, type ListedApp } from '../../operations/directory/directory.ts'
import type { PageRequest } from '../../operations/page.ts'
import { listQuery } from '../contract/management.ts'
import { endpoint, queryOf } from '../endpoint.ts'
import { wirePage, wireTime } from '../wire.ts'
import { model, nullableText, pageModel, text, time } from '../contract/fields.ts'

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

const listedAppList = pageModel('ListedAppList', 'Apps of the directory.', listedApp, 'By slug.')

/** Who installs or hides an app sees that at once here; a cache between may be this much behind. */
const cacheControl = 'public, max-age=60'

const wireListed = (app: ListedApp, publicUrl: string) => ({
  ...pick(app, 'slug', 'name', 'description', 'publisher', 'version'),
  scopes: [...app.scopes],
  iconUrl: app.icon === null ? null : publicUrl + app.icon,
  url: publicUrl + listedAppPath(app.slug),
  installUrl: publicUrl + installLivePath(app.slug),
  liveSince: wireTime(app.liveSince),
})

export const readDirectory = endpoint({
  method: 'GET',
  path: '/apps.json',
  query: queryOf(listQuery),
  answers: { 200: listedAppList },
  details: {
    id: 'listDirectory',
    summary: 'List the directory of apps',
    description:
      'Active apps with a live version, without those that an operator has hidden: what /apps shows to everybody, for pages of your own. May be cached for a minute.',
    tag: 'Directory',
  },
  run: async ({ platform }, call, { query }) => {
    const read = async (asked: PageRequest) => await listDirectory(platform, 'everybody', asked)
    const page = await wirePage('apps', query, read, (app) => wireListed(app, platform.publicUrl))
    call.headers = { 'cache-control': cacheControl }
    return page
  },
})
