import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { changeAppScopes } from '../../operations/apps/change-app.ts'
import { Problem } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { answerForm, asMember, formOf, receiveFromUser, texts } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { Facts } from '../design/values.tsx'
import { Allowed, consoleAppPath, type OwnApp, ownAppOf, OwnAppPage, requireOwnApp } from './own-app.tsx'

const notices = { scopes: 'The scopes are saved.' } as const

const scopesForm = formOf({ scopes: texts })

/** The scopes that an app may ask for. */
export const appScopeRoutes = (door: Door) =>
  new Elysia()
    .get('/console/:slug/scopes', async ({ request, params: { slug } }) => {
      const own = await requireOwnApp(door, request, slug)
      return show(own, own.app.scopes, null)
    })
    .post('/console/:slug/scopes', async ({ request, params: { slug } }) => {
      const { visit, fields } = await receiveFromUser(door, request, scopesForm)
      return await answerForm(
        changeAppScopes(...asMember(visit, slug, 'settings'), { slug, scopes: fields.scopes.join(' ') }),
        {
          done: () => seeOther(`${consoleAppPath(slug, 'scopes')}?done=scopes`),
          refused: async (error) => show(await ownAppOf(visit, slug), fields.scopes, error),
        },
      )
    })

const show = ({ visit, app }: OwnApp, chosen: readonly string[], error: PlatformError | null): Response =>
  page(
    <OwnAppPage visit={visit} app={app} tab="scopes" title="Scopes" notices={notices}>
      <Problem error={error} />
      <Form action={consoleAppPath(app.slug, 'scopes')} visit={visit}>
        <ScopeChoice chosen={chosen} error={error} />
        <Allowed app={app} right="settings">
          <button type="submit" class="primary">
            Save the scopes
          </button>
        </Allowed>
      </Form>
      <h2>What a change does</h2>
      <Facts of={effects} />
    </OwnAppPage>,
    { refusal: error },
  )

/** A test checks that these sentences are true. */
const effects = {
  'When you add a scope':
    'Your app may ask for it from now on. No user has granted it yet: each user is asked again, with the new scope marked.',
  'When you withdraw a scope':
    'App tokens, consent requests and new versions can no longer ask for it. What was granted before stays: an app ' +
    'token keeps the scope until it expires, at most an hour later. A user’s access keeps it, even when it is ' +
    'refreshed, until the user or your app revokes it, or it expires unused.',
  Versions: 'Each version keeps the scopes that it was uploaded with.',
}
