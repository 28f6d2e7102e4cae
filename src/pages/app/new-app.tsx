import type { Door } from '../../http/door.ts'
import { createApp } from '../../operations/apps/apps.ts'
import { listOwnApps } from '../../operations/apps/lists.ts'
import { formPage } from '../change.tsx'
import { Field } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { Layout } from '../design/shell.tsx'
import { formOf, optionalText, text, texts } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { slugHint } from '../words.ts'
import { publisherHint } from './settings.tsx'
import { consoleAppPath, newAppPath, yourApps } from './app-area.tsx'
import { mayCreateApps, refusalNow } from '../../operations/acting-as.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'

const newAppForm = formOf({ name: text, publisher: optionalText, slug: text, scopes: texts })

/** The form that registers an app. Every signed-in person may, up to the quota. */
export const newAppRoutes = (door: Door) =>
  formPage(door, newAppPath, {
    by: 'user',
    effect: 'makes an empty app',
    form: newAppForm,
    show: async (visit) => {
      const refusal = await refusalNow(door.platform, visit.userId, mayCreateApps(door.platform))
      const frame = {
        title: 'Create an app',
        belongsTo: 'Developers',
        visit,
        section: 'console',
        crumbs: [yourApps],
      } as const
      if (refusal !== null) return page(<Layout {...frame}>{refusal.message}</Layout>)
      return page(
        <Layout {...frame}>
          <div class="console">
            <Form action={newAppPath} visit={visit}>
              <Field
                label="Name"
                name="name"
                hint="Users see this name when the app asks for their consent. You can change it until the first version is approved."
                input={{ required: true, maxLength: 200 }}
              />
              <Field label="Publisher" name="publisher" hint={publisherHint} input={{ maxLength: 200 }} />
              <Field
                label="Slug"
                name="slug"
                hint={slugHint}
                input={{ required: true, maxLength: 63, spellcheck: false }}
              />
              {/* Nearly every app that people sign in to asks who they are. */}
              <ScopeChoice catalogue={await readCatalogue(door.platform)} chosen={['profile:read']} />
              <p class="muted">Choose what you need now. You can add and withdraw scopes later.</p>
              <button type="submit" class="primary">
                Create the app
              </button>
            </Form>
          </div>
        </Layout>,
      )
    },
    act: async ({ visit, fields: { name, publisher, slug, scopes }, ticket }) => {
      const input = { ownerEmail: visit.session.user.email, name, publisher, slug, scopes: scopes.join(' ') }
      const app = await visit.as(mayCreateApps(door.platform), ticket).do(createApp, input)
      return seeOther(`${consoleAppPath(app.slug)}?done=app`)
    },
    again: async ({ visit, fields: { slug } }) =>
      (await listOwnApps(door.platform, visit.userId)).some((app) => app.slug === slug)
        ? { message: createdBefore, href: consoleAppPath(slug), name: 'Go to the app' }
        : { message: refusedBefore, href: newAppPath, name: 'Open a new form' },
  })

const createdBefore = 'This form was sent before and has registered your app. Nothing was done a second time.'
const refusedBefore =
  'This form was sent before and has registered nothing. Each form can be sent once, so open a new one.'
