import type { Door } from '../../http/door.ts'
import { changeAppScopes } from '../../operations/apps/apps.ts'
import { formPage } from '../change.tsx'
import { Form } from '../design/form.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { Facts } from '../design/values.tsx'
import { formOf, texts } from '../form.ts'
import { proveFirst } from '../proof.ts'
import { page, seeOther } from '../page.ts'
import { Allowed, consoleAppPath, ownAppOf, OwnAppPage } from './own-app.tsx'
import { mayInActiveApp } from '../../operations/acting-as.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'

const notices = { scopes: 'The scopes are saved.' } as const

const scopesForm = formOf({ scopes: texts })

/** The scopes that an app may ask for. */
export const appScopeRoutes = (door: Door) =>
  formPage(door, '/console/:slug/scopes', {
    by: 'user',
    proof: 'asked',
    isPartOfPage: true,
    form: scopesForm,
    show: async (visit, { slug }) => {
      const { app } = await ownAppOf(visit, slug)
      return page(
        <OwnAppPage visit={visit} app={app} tab="scopes" title="Scopes" notices={notices}>
          <Form action={consoleAppPath(slug, 'scopes')} visit={visit} asks={proveFirst(visit)}>
            <ScopeChoice catalogue={await readCatalogue(door.platform)} chosen={app.scopes} given={app.givenScopes} />
            <Allowed app={app} right="settings">
              <button type="submit" class="primary">
                Save the scopes
              </button>
            </Allowed>
          </Form>
          <h2>What a change does</h2>
          <Facts of={effects} />
        </OwnAppPage>,
      )
    },
    act: async ({ visit, fields: { scopes } }, { slug }) => {
      await visit.as(mayInActiveApp(slug, 'settings')).do(changeAppScopes, { slug, scopes: scopes.join(' ') })
      return seeOther(`${consoleAppPath(slug, 'scopes')}?done=scopes`)
    },
  })

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
